package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.studies.train.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingDocsTest {
  private static final String MARK =
      "<!-- figure training/usual: RMSNorm - LayerNorm; loss; mean -->";

  @TempDir Path checkout;

  /** From the JSON alone: the page, its HTML and the figures elsewhere. */
  @Test
  void pagesAreMadeAgainFromTheResultsThatAreKept() throws IOException {
    Path kept = Shell.CHECKOUT.resolve("docs/training");
    Path docs = Files.createDirectory(checkout.resolve("docs"));
    Path training = Files.createDirectory(docs.resolve("training"));
    Files.copy(kept.resolve("usual.json"), training.resolve("usual.json"));
    Files.writeString(
        docs.resolve("training.md"), "a\n<!-- begin train usual -->\nold\n<!-- end -->\nb\n");
    Files.writeString(docs.resolve("claims.md"), "a difference of +9.0000" + MARK + " nats\n");

    assertThat(new TrainingDocs(checkout).refresh()).containsExactly(Plan.Kind.USUAL);

    for (String name : List.of("usual.json", "usual.html")) {
      assertThat(training.resolve(name)).hasSameTextualContentAs(kept.resolve(name));
    }
    assertThat(docs.resolve("training.md"))
        .content()
        .startsWith("a\n<!-- begin train usual -->\n\n* No difference found")
        .endsWith("<!-- end -->\nb\n")
        .doesNotContain("old");
    assertThat(docs.resolve("claims.md")).hasContent("a difference of +0.0001" + MARK + " nats\n");
    assertThat(training.resolve("norms.html")).doesNotExist();
  }
}
