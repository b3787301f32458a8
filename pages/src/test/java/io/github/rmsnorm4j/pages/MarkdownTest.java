package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.rmsnorm4j.pages.Page.Heading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MarkdownTest {
  private static final Path PAGE = Path.of("docs/page.md");
  private static final Checkout CHECKOUT = new Checkout(Path.of("").toAbsolutePath().getParent());
  private static final Pattern CODE = Pattern.compile("(?ms)^```.*?^```");
  private static final Pattern ID = Pattern.compile("<h\\d id=\"([^\"]*)\"");

  @TempDir private Path folder;

  private Page page(String markdown) throws IOException {
    for (String file :
        List.of("docs/page.md", "docs/a.svg", "docs/b.svg", "docs/c.svg", "A.java")) {
      Files.createDirectories(folder.resolve(file).getParent());
      Files.writeString(folder.resolve(file), "");
    }
    return Markdown.page(PAGE, markdown, new Links(folder, Set.of(PAGE), Optional.empty()));
  }

  @Test
  void thePageHasATitleADescriptionAndItsHeadings() throws IOException {
    Page page =
        page(
            """
            # The `a` & *b*

            What it is,
            in `two` lines.

            ## A [link](page.md) here
            ### `Code.name()`, twice
            #### Not listed
            ## A link here
            """);
    assertThat(page.address()).isEqualTo(Path.of("docs/page.html"));
    assertThat(page.title()).isEqualTo("The a & b");
    assertThat(page.description()).isEqualTo("What it is, in two lines.");
    assertThat(page.headings())
        .containsExactly(
            new Heading(2, "a-link-here", "A link here"),
            new Heading(3, "codename-twice", "<code>Code.name()</code>, twice"),
            new Heading(2, "a-link-here-1", "A link here"));
  }

  @Test
  void aLongDescriptionEndsAtAWord() throws IOException {
    String description = page("# A\n\n" + "word ".repeat(50)).description();
    assertThat(description).endsWith("word …").hasSizeBetween(150, 162);
  }

  @Test
  void aTableHasABoxOfItsOwn() throws IOException {
    assertThat(page("# A\n\n| a | b |\n| --- | ---: |\n| 1 | `x|y` |\n").body())
        .contains("<div class=\"table\" tabindex=\"0\"><table>\n<thead>")
        .contains("<td align=\"right\">")
        .endsWith("</table></div>\n");
  }

  @Test
  void htmlIsKeptAndPicturesAreNoted() throws IOException {
    Page page =
        page(
            """
            # A

            <picture>
              <source media="(prefers-color-scheme: dark)" srcset="a.svg">
              <img alt="A" src="b.svg">
            </picture>

            ![C](c.svg) and 0.5<!-- a figure -->
            """);
    assertThat(page.body())
        .contains("srcset=\"a.svg\">\n  <img alt=\"A\" src=\"b.svg\">\n</picture>")
        .contains("<img src=\"c.svg\" alt=\"C\" /> and 0.5<!-- a figure -->");
    assertThat(page.pictures())
        .containsExactlyInAnyOrder(
            Path.of("docs/a.svg"), Path.of("docs/b.svg"), Path.of("docs/c.svg"));
  }

  @Test
  void aLinkThatLeadsNowhereIsPlainText() throws IOException {
    assertThat(page("# A\n\nSee [the *file* `A`](../A.java), [here](#a).\n").body())
        .endsWith("<p>See the <em>file</em> <code>A</code>, <a href=\"#a\">here</a>.</p>\n");
  }

  @Test
  void aPageWithoutATitleIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> page("## A\n"))
        .withMessage("docs/page.md does not begin with a heading '# …'");
  }

  static List<Path> pages() throws IOException {
    return CHECKOUT.markdown();
  }

  /**
   * The rule of GitHub: lower case, no punctuation, hyphens for spaces, numbers for repetitions.
   */
  @ParameterizedTest
  @MethodSource("pages")
  void headingsOfThePagesHaveTheAnchorsOfGitHub(Path file) throws IOException {
    String markdown = CHECKOUT.read(file);
    Links links = new Links(CHECKOUT.folder(), new HashSet<>(pages()), Optional.empty());
    Map<String, Integer> seen = new HashMap<>();
    List<String> expected =
        CODE.matcher(markdown)
            .replaceAll("")
            .lines()
            .filter(line -> line.startsWith("#"))
            .map(line -> line.replaceFirst("#+ ", "").replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1"))
            .map(line -> line.toLowerCase(Locale.ROOT).replaceAll("[^\\w -]", "").replace(' ', '-'))
            .map(
                id -> {
                  int before = seen.merge(id, 1, Integer::sum) - 1;
                  return before == 0 ? id : id + "-" + before;
                })
            .toList();
    assertThat(ID.matcher(Markdown.page(file, markdown, links).body()).results())
        .extracting(found -> found.group(1))
        .isNotEmpty()
        .containsExactlyElementsOf(expected);
  }
}
