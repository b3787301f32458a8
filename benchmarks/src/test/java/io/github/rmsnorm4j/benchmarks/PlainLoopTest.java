package io.github.rmsnorm4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlainLoopTest {
  @TempDir private Path folder;

  /** It compares the answers of the loop and the library itself, and fails where they differ. */
  @ParameterizedTest
  @ValueSource(strings = {"FLOAT32", "BFLOAT16"})
  void loopAndLibraryAgreeAndTakeTime(String type) throws IOException {
    Path file = folder.resolve("times");
    PlainLoop.main(new String[] {file.toString(), type, "2", "true"});
    assertThat(Files.readString(file).split(" "))
        .hasSize(2)
        .allSatisfy(nanos -> assertThat(Double.parseDouble(nanos)).isPositive());
  }
}
