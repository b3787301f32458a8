package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LinksTest {
  private static final String HOME = "https://host.example/group/project";

  @TempDir private Path checkout;

  @BeforeEach
  void files() throws IOException {
    for (String file :
        List.of(
            "README.md",
            "LICENSE",
            "docs/explain.html",
            "docs/numerics.md",
            "docs/chart.svg",
            "docs/decisions/README.md",
            "docs/training/norms.html",
            "core/src/A.java")) {
      Files.createDirectories(checkout.resolve(file).getParent());
      Files.createFile(checkout.resolve(file));
    }
  }

  private Links links(Optional<String> home) {
    Set<Path> pages =
        List.of(
                "README.md",
                "docs/explain.html",
                "docs/numerics.md",
                "docs/decisions/README.md",
                "docs/training/norms.html")
            .stream()
            .map(Path::of)
            .collect(Collectors.toSet());
    return new Links(checkout, pages, home);
  }

  @ParameterizedTest
  @CsvSource({
    "README.md, docs/numerics.md, docs/numerics.html",
    "README.md, docs/numerics.md#the-bound, docs/numerics.html#the-bound",
    "README.md, docs/explain.html, index.html",
    "README.md, #here, #here",
    "README.md, https://example.org/a.md, https://example.org/a.md",
    "README.md, mailto:someone@example.org, mailto:someone@example.org",
    "docs/numerics.md, ../README.md, ../README.html",
    "docs/numerics.md, explain.html, ../index.html",
    "docs/numerics.md, training/norms.html, training/norms.html",
    "docs/numerics.md, decisions/README.md, decisions/README.html",
    "docs/decisions/README.md, ../numerics.md#a, ../numerics.html#a",
    "docs/decisions/README.md, ../explain.html, ../../index.html",
    "docs/training/norms.html, ../numerics.md, ../numerics.html"
  })
  void aLinkToAPageLeadsToItsHtml(Path page, String destination, String link) {
    assertThat(links(Optional.empty()).rewritten(page, destination)).contains(link);
    assertThat(links(Optional.of(HOME)).rewritten(page, destination)).contains(link);
  }

  @ParameterizedTest
  @CsvSource({
    "README.md, LICENSE, /blob/HEAD/LICENSE",
    "README.md, core/src, /tree/HEAD/core/src",
    "docs/numerics.md, ../core/src/A.java#L3, /blob/HEAD/core/src/A.java#L3"
  })
  void aLinkToASourceLeadsToTheHomeIfThatIsKnown(Path page, String destination, String link) {
    assertThat(links(Optional.of(HOME)).rewritten(page, destination)).contains(HOME + link);
    assertThat(links(Optional.empty()).rewritten(page, destination)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "README.md, docs/none.md#a, docs/none.md",
    "README.md, ../outside, ../outside",
    "docs/numerics.md, docs/numerics.md, docs/numerics.md"
  })
  void aLinkToNothingIsRefused(Path page, String destination, String named) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> links(Optional.of(HOME)).rewritten(page, destination))
        .withMessage("%s links to '%s', which is no file of the checkout", page, named);
  }

  @Test
  void addressesStayInTheirFolders() {
    assertThat(Links.address(Path.of("README.md"))).isEqualTo(Path.of("README.html"));
    assertThat(Links.address(Path.of("docs/a/b.md"))).isEqualTo(Path.of("docs/a/b.html"));
    assertThat(Links.address(Links.EXPLAINER)).isEqualTo(Path.of("index.html"));
  }
}
