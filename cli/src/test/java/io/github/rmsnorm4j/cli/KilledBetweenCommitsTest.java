package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.ChildJvm;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that writes two files dies while it brings them to their names: each is as it was or
 * whole, and the sum is there before the result. It is killed as soon as the first file is there;
 * bringing the second to the disk takes much longer than that.
 */
class KilledBetweenCommitsTest {
  private static final int ROWS = 2048;
  private static final int WIDTH = 4096;
  private static final boolean LONG = Boolean.getBoolean("tests.all");
  private static final int KILLS = LONG ? 8 : 1;
  private static final byte[] OLD = "old".getBytes();

  @TempDir private Path folder;
  private Path in;

  @BeforeEach
  void input() throws IOException {
    in =
        TestTensor.write(
            folder.resolve("x.safetensors"), TestTensor.random("x", Dtype.F32, 0, 1, ROWS, WIDTH));
  }

  @Test
  void theSumIsWholeAndTheResultIsTheOldOneOrWhole() throws Exception {
    Path whole = folder.resolve("whole.safetensors");
    Path wholeSum = folder.resolve("whole-sum.safetensors");
    assertThat(run(whole, wholeSum).waitFor()).isZero();
    Path out = folder.resolve("y.safetensors");
    Path sum = folder.resolve("h.safetensors");
    int between = 0;
    // Until one was between the two, which the first one nearly always is.
    for (int kill = 0; kill < KILLS || between == 0; kill++) {
      Files.deleteIfExists(sum);
      Files.write(out, OLD);
      Process process = run(out, sum);
      while (process.isAlive() && !Files.exists(sum)) {
        Thread.sleep(1);
      }
      process.destroyForcibly().waitFor();
      assertThat(Files.mismatch(sum, wholeSum)).as("the sum, kill %d", kill).isEqualTo(-1);
      if (Files.size(out) == OLD.length) {
        assertThat(out).hasBinaryContent(OLD);
        between++;
      } else {
        assertThat(Files.mismatch(out, whole)).as("the result, kill %d", kill).isEqualTo(-1);
      }
      removeLeftovers();
    }
  }

  private Process run(Path out, Path sum) throws IOException {
    List<String> command =
        ChildJvm.command(
            Rmsnorm.class,
            List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            "normalize",
            in,
            "-qfo",
            out,
            "--residual",
            in,
            "--residual-out",
            sum);
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("said").toFile())
        .start();
  }

  private void removeLeftovers() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".tmp")).toList()) {
        Files.delete(file);
      }
    }
  }
}
