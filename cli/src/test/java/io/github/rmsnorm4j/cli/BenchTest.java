package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchTest {
  @Test
  void outsideACheckoutOneLineSaysWhatIsNeeded() {
    CommandResult result = CommandResult.of("bench");
    assertThat(result.status()).isOne();
    assertThat(result.err())
        .isEqualTo(
            "rmsnorm bench: needs a checkout of rmsnorm4j, to build the measurements from: start"
                + " ./rmsnorm bench there\n");
  }

  @Test
  void wrongUseIsSaidBeforeAnythingIsBuilt() {
    assertThat(wrongUse("--write", "--quick"))
        .contains("--write excludes --quick, --only and --traps: only runs of all shapes are kept");
    assertThat(wrongUse("--traps", "--check")).contains("--check and --traps exclude each other");
    assertThat(wrongUse("--loops", "--traps"))
        .contains("--loops, --variants and --traps exclude each other");
    assertThat(wrongUse("--variants", "--loops"))
        .contains("--loops, --variants and --traps exclude each other");
    assertThat(wrongUse("--threads", "1,0")).contains("--threads is 0, it may be 1 to 1024");
    assertThat(wrongUse("--jvms", "101")).contains("--jvms is 101, it may be 1 to 100");
  }

  /** An hour's figures have a place before the first of them is measured. */
  @Test
  void aFileThatCannotBeWrittenIsSaidBeforeAnythingIsBuilt(@TempDir Path folder)
      throws IOException {
    Path there = Files.writeString(folder.resolve("there.json"), "kept");
    assertThat(wrongUse("--json", there.toString()))
        .contains("--json " + there + ": exists already; --force replaces it");
    Path none = folder.resolve("none/rounds.json");
    assertThat(wrongUse("--json", none.toString()))
        .contains("--json " + none + ": there is no folder " + none.getParent());
    assertThat(wrongUse("--json", "")).contains("--json is empty, it must name a file");
    assertThat(wrongUse("--json", "rounds.txt"))
        .contains("--json is rounds.txt, its name must end in .json");
    assertThat(CommandResult.of("bench", "--force", "--json", there.toString()).err())
        .contains("needs a checkout");
    assertThat(there).hasContent("kept");
    assertThat(folder).isDirectoryContaining(there::equals).isDirectoryNotContaining("glob:**.tmp");
  }

  private static String wrongUse(String first, String second) {
    CommandResult result = CommandResult.of("bench", first, second);
    assertThat(result.status()).isEqualTo(2);
    return result.err();
  }
}
