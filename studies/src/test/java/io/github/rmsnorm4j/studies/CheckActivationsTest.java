package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.models.check.CheckReport;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rmsnorm check} on the activations of a trained model, stories260K. */
class CheckActivationsTest {
  private static final int WIDTH = 64;

  private static final Set<String> BY_DEFAULT =
      Set.of("F32 onnx", "F16 float32", "F16 llama", "BF16 float32", "BF16 t5", "BF16 onnx");

  @TempDir Path folder;

  /**
   * In every type and cast order, or by default in some pairs: the true one is named, with the
   * model's epsilon.
   */
  @Test
  void namesTheCastOrderOfARealModel() throws IOException {
    Path acts = folder.resolve("acts.safetensors");
    CommandResult story = CommandResult.of("story", "--tokens", "1", "--activations", "" + acts);
    assertThat(story.status()).describedAs(story.err()).isZero();
    double[] hidden = TestTensor.read(acts, "layers.2.hidden").values();
    double[] gain = TestTensor.read(acts, "layers.2.norm.weight").values();
    boolean all = Boolean.getBoolean("tests.all");
    int alone = 0;
    for (Dtype type : new Dtype[] {Dtype.F32, Dtype.F16, Dtype.BF16}) {
      Path x = folder.resolve("x.safetensors");
      long rows = hidden.length / WIDTH;
      TestTensor.write(
          x, TestTensor.of("g", type, gain, WIDTH), TestTensor.of("x", type, hidden, rows, WIDTH));
      for (String order : new String[] {"float32", "llama", "t5", "onnx"}) {
        if (!all && !BY_DEFAULT.contains(type + " " + order)) {
          continue;
        }
        CheckReport report = checked(x, order);
        assertThat(report.named())
            .describedAs("%s, %s: %s", type, order, report.verdict())
            .anyMatch(
                norm ->
                    norm.kind().equals("RMSNorm")
                        && norm.castOrders().contains(order)
                        && norm.epsilon() == 1e-5
                        && norm.part() == WIDTH
                        && norm.gainOffset() == 0);
        assertThat(report.named()).allMatch(norm -> norm.kind().equals("RMSNorm"));
        // One rounding before the gain, or none: rows of 16 bits tell these two groups apart.
        if (type != Dtype.F32) {
          List<String> group =
              order.equals("float32")
                  ? List.of("float32", "divided", "gain-first")
                  : List.of("llama", "t5", "onnx");
          assertThat(report.named()).allMatch(norm -> group.contains(norm.castOrders().getFirst()));
        }
        alone += report.status() == CheckReport.Status.RECOGNIZED ? 1 : 0;
      }
    }
    assertThat(alone).isPositive();
  }

  private CheckReport checked(Path x, String order) throws IOException {
    Path y = folder.resolve("y.safetensors");
    Path json = folder.resolve("check.json");
    String gain = x + ":g";
    CommandResult made =
        CommandResult.of(
            "normalize",
            x + ":x",
            "-o",
            "" + y,
            "--gain",
            gain,
            "--eps",
            "1e-5",
            "--cast-order",
            order,
            "-qf");
    assertThat(made.status()).describedAs(made.err()).isZero();
    CommandResult result =
        CommandResult.of("check", x + ":x", y + ":x", "--gain", gain, "--json", "" + json, "-f");
    assertThat(result.status()).describedAs(result.out() + result.err()).isZero();
    return Records.read(CheckReport.class, Files.readString(json));
  }
}
