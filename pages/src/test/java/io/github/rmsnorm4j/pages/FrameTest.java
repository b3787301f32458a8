package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.rmsnorm4j.pages.Page.Heading;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class FrameTest {
  private static final String HOME = "https://host.example/project";
  private static final Pattern STYLE = Pattern.compile("(?s)<style>(.*?)</style>");

  @Test
  void aPageHasAHeadABarAndItsContents() {
    List<Heading> headings = List.of(new Heading(2, "a", "A"), new Heading(3, "b", "B"));
    Path address = Path.of("docs/deep/page.html");
    Page page = new Page(address, "A & B", "Says \"no\"", "<h1>A</h1>\n", headings, Set.of());
    assertThat(new Frame(Optional.of(HOME)).html(page))
        .startsWith("<!DOCTYPE html>\n<html lang=\"en\">\n")
        .contains("<title>A &amp; B - rmsnorm4j</title>")
        .contains("<meta name=\"description\" content=\"Says &quot;no&quot;\">")
        .contains("<link rel=\"stylesheet\" href=\"../../site.css\">")
        .contains("<a href=\"../../index.html\">rmsnorm4j</a>")
        .contains("<a href=\"../index.html\">Pages</a>")
        .contains("<a href=\"" + HOME + "\">Sources</a>")
        .contains("<li class=\"level-3\"><a href=\"#b\">B</a></li>")
        .contains("href=\"#on-this-page\"");
  }

  @Test
  void aShortPageOfAnUnknownHomeHasNeither() {
    Page page = Page.of(Frame.API, "API", "The Javadoc.", "<h1>API</h1>\n");
    assertThat(new Frame(Optional.empty()).html(page))
        .contains("<a href=\"index.html\" aria-current=\"page\">API</a>")
        .doesNotContain("Sources", "on-this-page");
  }

  @Test
  void thePolicyOfADocumentAllowsTheBar() throws IOException, NoSuchAlgorithmException {
    Checkout checkout = new Checkout(Path.of("").toAbsolutePath().getParent());
    String explainer = checkout.read(Links.EXPLAINER);
    Page page = Page.of(Path.of("index.html"), "RMSNorm", "It explains.", explainer);
    String html = new Frame(Optional.empty()).around(page);
    assertThat(html)
        .contains("<body>\n<nav class=\"bar\"")
        .contains("<meta name=\"description\" content=\"It explains.\">");
    String policy = html.lines().filter(line -> line.contains("style-src")).findFirst().get();
    Matcher style = STYLE.matcher(html);
    for (int i = 0; i < 2; i++) {
      assertThat(style.find()).isTrue();
      byte[] text = style.group(1).getBytes(StandardCharsets.UTF_8);
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(text);
      assertThat(policy).contains("'sha256-" + Base64.getEncoder().encodeToString(digest) + "'");
    }
    assertThat(style.find()).isFalse();
  }

  @Test
  void anotherDocumentIsRefused() {
    Page page = Page.of(Path.of("docs/a.html"), "A", "A", "<html></html>");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Frame(Optional.empty()).around(page))
        .withMessage("docs/a.html has no 'style-src', as every report has");
  }

  @Test
  void thePageForMissingOnesNeedsNoOtherFile() {
    assertThat(new Frame(Optional.of(HOME)).notFound())
        .contains("<style>", "<a href=\"index.html\">")
        .doesNotContain("site.css", "class=\"bar\"");
  }

  @Test
  void theStyleIsShort() {
    assertThat(Frame.style().lines()).hasSizeLessThan(150);
  }
}
