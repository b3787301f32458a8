package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestJson;
import io.github.rmsnorm4j.cuda.testing.StubGpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** {@code rmsnorm compare --device cuda} from end to end, on small tensors. */
@Isolated // A JVM has one library of the driver.
class CompareOnGpuTest {
  @TempDir private Path folder;

  private StubGpu gpu;

  @BeforeEach
  void open() throws IOException {
    gpu = new StubGpu();
  }

  @AfterEach
  void close() throws IOException {
    if (gpu != null) { // else skipped
      gpu.close();
    }
  }

  @Test
  void tablesAndPageSayWhatRanOnTheGpu() throws IOException {
    Path page = folder.resolve("page.html");
    Path data = folder.resolve("data.json");
    CommandResult result =
        CommandResult.of(
            "compare",
            "--device=cuda",
            "--quick",
            "--shape=2x8x64",
            "--report",
            "" + page,
            "--json",
            "" + data);
    assertThat(result.status()).as(result.err()).isZero();
    gpu.rethrow();
    assertThat(gpu.leaks()).isEmpty();
    assertThat(result.outLines()).allMatch(line -> line.length() <= 80);
    assertThat(result.out().replaceAll("\\s+", " "))
        .contains("Kernels on device 0 (Stub GPU A), every variant and the copy in turn.")
        .contains("memory: what is allocated on the GPU at once")
        .doesNotContain("threads at most", "fresh process");
    assertThat(Files.readString(page))
        .contains("Times are between two events on device 0 (Stub GPU A)")
        .doesNotContain("Roofline", "fresh process");
    Map<?, ?> json = TestJson.read(data);
    assertThat(TestJson.<String>get(json, "results.run.processor"))
        .isEqualTo("device 0 (Stub GPU A)");
    assertThat(TestJson.<List<?>>get(json, "results.memory")).hasSize(4);
    assertThat(TestJson.<List<?>>get(json, "rows")).hasSize(4);
  }

  @Test
  void threadsAndTooLargeTensorsAreRefused() {
    assertFails("--threads=2", "--threads is 2, --device is cuda: a GPU has threads of its own");
    gpu.memory(1 << 20);
    assertFails("--shape=64x32x64", "--shape is 64x32x64, which needs 1.63 MiB of memory");
  }

  private void assertFails(String option, String message) {
    CommandResult result = CommandResult.of("compare", "--device=cuda", option);
    assertThat(result.status()).as(result.err()).isEqualTo(2);
    assertThat(result.err()).contains(message).hasLineCount(1);
    assertThat(gpu.leaks()).isEmpty();
  }
}
