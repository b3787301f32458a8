package io.github.rmsnorm4j.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cuda.testing.StubGpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
        .contains(
            "--write excludes --quick, --only, --traps, and --threads without 1: only whole runs are");
    assertThat(wrongUse("--traps", "--check")).contains("--check and --traps exclude each other");
    assertThat(wrongUse("--loops", "--traps"))
        .contains("--loops, --variants and --traps exclude each other");
    assertThat(wrongUse("--variants", "--loops"))
        .contains("--loops, --variants and --traps exclude each other");
    assertThat(wrongUse("--threads", "1,0")).contains("--threads is 0, it may be 1 to 1024");
    assertThat(wrongUse("--jvms", "101")).contains("--jvms is 101, it may be 1 to 100");
    assertThat(wrongUse("--decode", "--traps")).contains("--decode excludes --traps");
    assertThat(wrongUse("--decode", "--width", "0")).contains("--width is 0, it may be 1 to 65536");
    assertThat(wrongUse("--decode", "--write", "--width", "64"))
        .contains("--write excludes --width, --only, and fewer --jvms than 7: only whole runs");
    assertThat(wrongUse("--decode", "--write", "--jvms", "1")).contains("fewer --jvms than 7");
    assertThat(wrongUse("--polluted", "--write", "--threads", "2")).contains("--threads without 1");
    assertThat(wrongUse("--calls", "--jvms", "2")).contains("--calls excludes --jvms");
    assertThat(wrongUse("--width", "64")).contains("--width is for --decode");
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

  @Test
  void withoutADriverOneLineSaysSo() {
    System.setProperty("rmsnorm4j.cuda.library", "libnone.so.1");
    try {
      CommandResult result = CommandResult.of("bench", "--device", "cuda");
      assertThat(result.status()).isOne();
      assertThat(result.err())
          .isEqualTo(
              "rmsnorm bench: --device is cuda, which cannot be used: libnone.so.1 cannot be"
                  + " loaded: it comes with the driver of an NVIDIA GPU\n");
      assertThat(result.out()).isEmpty();
    } finally {
      System.clearProperty("rmsnorm4j.cuda.library");
    }
  }

  /** The stub's events count calls, which are no times: nothing is printed or kept. */
  @Test
  void timesOfNoDeviceAreNotKept(@TempDir Path folder) throws IOException {
    try (StubGpu gpu = new StubGpu()) {
      Path file = folder.resolve("times.json");
      CommandResult result =
          CommandResult.of(
              "bench", "--device", "cuda", "--only", "width 256", "--json", file.toString());
      assertThat(result.status()).isOne();
      assertThat(result.err())
          .startsWith("rmsnorm bench: no times: copies took ")
          .endsWith(" by the processor's clock, so times of this device are not believed\n");
      assertThat(result.out()).isEmpty();
      assertThat(file).doesNotExist();
      assertThat(gpu.leaks()).isEmpty();
    }
  }

  @Test
  void whatIsOfTheProcessorIsRefusedOnADevice() {
    assertThat(wrongUse("--device", "cuda", "--traps"))
        .contains("--traps is given, --device is cuda: it is for the processor");
    assertThat(wrongUse("--device", "cuda", "--threads", "2"))
        .contains("--threads is 2, --device is cuda: a GPU has threads of its own");
    assertThat(wrongUse("--device", "cuda", "--jvms", "2")).contains("--jvms is 2, --device is");
    assertThat(wrongUse("--device", "cuda", "--only", "width 3"))
        .contains(
            "--only is 'width 3', it must be in the title of a call: RMSNorm forward, float32");
    assertThat(wrongUse("--device", "cuda", "--write")).contains("--write takes a checkout");
    assertThat(wrongUse("--device", "gpu")).contains("expected cpu, cuda or cuda:N");
  }

  private static String wrongUse(String... arguments) {
    List<String> words = new ArrayList<>(List.of("bench"));
    words.addAll(List.of(arguments));
    CommandResult result = CommandResult.of(words.toArray(String[]::new));
    assertThat(result.status()).isEqualTo(2);
    return result.err();
  }
}
