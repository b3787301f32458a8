package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.ChildJvm;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The command line on an emulated ARM64 processor writes the file that it writes on this machine:
 * {@code .ci/arm64 cli}.
 */
@EnabledIfSystemProperty(
    named = "rmsnorm4j.arm64.java",
    matches = ".+",
    disabledReason = ".ci/arm64 runs it")
class Arm64NormalizeTest {
  private static final String ROWS = "../examples/activations.safetensors:layers.12.hidden";

  @TempDir Path folder;

  /** A processor with NEON, and one with SVE. */
  @ParameterizedTest
  @ValueSource(strings = {"max,sve=off", "max,sve512=on"})
  void writesTheSameBytes(String processor) throws Exception {
    Path here = folder.resolve("here.npy");
    CommandResult result = CommandResult.of("normalize", ROWS, "-o", here.toString());
    assertThat(result.status()).as(result.err()).isZero();
    Path there = folder.resolve("there.npy");
    List<String> command =
        ChildJvm.command(Rmsnorm.class, List.of(), "normalize", ROWS, "-o", there);
    command.set(0, System.getProperty("rmsnorm4j.arm64.java"));
    ProcessBuilder emulated = new ProcessBuilder(command).redirectErrorStream(true);
    emulated.environment().put("QEMU_CPU", processor);
    Process process = emulated.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(Files.readAllBytes(there)).isEqualTo(Files.readAllBytes(here));
  }
}
