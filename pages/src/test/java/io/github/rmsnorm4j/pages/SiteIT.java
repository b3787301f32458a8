package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The folder {@code site}, which {@code ./mvnw -Psite verify} has just made. */
class SiteIT {
  /** The folder of this checkout. Maven runs a module's tests in the module's folder. */
  static final Path CHECKOUT = Path.of("").toAbsolutePath().getParent();

  static final Path SITE = CHECKOUT.resolve("site");

  private static final Pattern TITLE = Pattern.compile("<title>[^<]+</title>");
  private static final Pattern LANGUAGE = Pattern.compile("<html lang=\"\\w+\">");

  /** All files of a folder, in order. */
  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).map(folder::relativize).sorted().toList();
    }
  }

  @Test
  void everyLinkLeadsToAFileAndAnAnchor() throws IOException {
    LinkCheck check = new LinkCheck(SITE);
    check.run();
    assertThat(check.broken()).isEmpty();
    assertThat(check.followed()).isGreaterThan(5000);
  }

  @Test
  void itHasTheExplainerThePagesAndTheJavadocOfEachPublishedModule() {
    assertThat(SITE.resolve("index.html")).content().contains("<nav class=\"bar\"", "id=\"why\"");
    for (String page : List.of("README", "CHANGELOG", "docs/numerics", "docs/decisions/README")) {
      assertThat(SITE.resolve(page + ".html")).content().contains("<nav class=\"bar\"");
    }
    for (String page :
        List.of(
            "rmsnorm4j/io.github.rmsnorm4j/io/github/rmsnorm4j/RmsNorm",
            "rmsnorm4j-cuda/io.github.rmsnorm4j.cuda/io/github/rmsnorm4j/cuda/CudaNorm",
            "rmsnorm4j-formats/io.github.rmsnorm4j.formats/module-summary",
            "rmsnorm4j-spark/io/github/rmsnorm4j/spark/package-summary")) {
      assertThat(SITE.resolve("api").resolve(page + ".html"))
          .content()
          .contains("../index.html\">Pages and API</a>");
    }
  }

  @Test
  void everyPageHasATitleAndALanguage() throws IOException {
    for (Path page : new LinkCheck(SITE).pages()) {
      assertThat(Files.readString(page))
          .as("%s", page)
          .containsPattern(TITLE)
          .containsPattern(LANGUAGE);
    }
  }

  @Test
  void nothingNamesAFolderOfThisMachine() throws IOException {
    String folder = CHECKOUT + "/"; // A page may well name /tmp/y.npy in a checkout /tmp/y.
    for (Path file : files(SITE)) {
      String text = new String(Files.readAllBytes(SITE.resolve(file)), StandardCharsets.ISO_8859_1);
      assertThat(text.contains(folder)).as("%s names %s", file, folder).isFalse();
    }
  }

  @Test
  void aSecondSiteHasTheSameBytes(@TempDir Path folder) throws IOException {
    Path second = folder.resolve("second");
    String home = System.getProperty("rmsnorm4j.home.page");
    Site.make(
        new Checkout(CHECKOUT), Optional.of(home).filter(url -> !url.equals("unset")), second);
    assertThat(files(second)).isEqualTo(files(SITE));
    for (Path file : files(SITE)) {
      assertThat(Files.mismatch(SITE.resolve(file), second.resolve(file)))
          .as("%s", file)
          .isEqualTo(-1);
    }
  }
}
