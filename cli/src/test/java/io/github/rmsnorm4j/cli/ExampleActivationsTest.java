package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExampleActivationsTest {
  private static final Path EXAMPLES = Shell.CHECKOUT.resolve("examples");
  private static final Path FILE = EXAMPLES.resolve("activations.safetensors");

  @TempDir Path folder;

  @Test
  void theProgramMakesTheFileThatIsThere() throws Exception {
    Path made = folder.resolve("made.safetensors");
    Shell.Result result =
        new Shell(folder)
            .run(
                Path.of(System.getProperty("java.home"), "bin", "java"),
                EXAMPLES.resolve("MakeActivations.java"),
                made);
    assertThat(result.err()).isEmpty();
    assertThat(result.status()).isZero();
    assertThat(made).hasBinaryContent(Files.readAllBytes(FILE));
  }

  @Test
  void itIsSmallAndEveryHiddenStateHasItsGain() throws Exception {
    assertThat(Files.size(FILE)).isLessThan(200_000);
    try (TensorFile file = TensorFile.open(FILE)) {
      for (Tensor tensor : file.tensors()) {
        if (tensor.name().endsWith(".hidden")) {
          String gain = FILE + ":" + tensor.name().replace("hidden", "norm.weight");
          Path out = folder.resolve(tensor.name() + ".npy");
          CommandResult result =
              CommandResult.of(
                  "normalize",
                  FILE.toString(),
                  "-o",
                  out.toString(),
                  "--tensor",
                  tensor.name(),
                  "--gain",
                  gain);
          assertThat(result.status()).describedAs(result.err()).isZero();
        }
      }
    }
  }

  @Test
  void theTwoNormsAgreeOnItsHiddenStatesAndNotOnItsRelu() {
    assertThat(CommandResult.of("stats", FILE + ":layers.8.hidden").out())
        .contains("Would it matter here? Hardly: ");
    assertThat(CommandResult.of("stats", FILE + ":layers.12.relu").out())
        .contains("Would it matter here? Yes: ");
  }
}
