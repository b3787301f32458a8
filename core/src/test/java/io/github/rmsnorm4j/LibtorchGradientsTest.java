package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Gradients against what libtorch's autograd makes of the Python code of published norms, kept in
 * {@code libtorch/gradients.txt}. The module oracle-tests wrote it, checks that libtorch still
 * gives it, and compares many more.
 */
class LibtorchGradientsTest {
  /**
   * Roundings of the coarsest type on the way, each of a row's largest gradient, or of the largest
   * dgain. Libtorch adds rows up in their own type, so its sums carry more of them than ours.
   */
  private static final double ROUNDINGS = 24;

  /** The same where it has 16 bits, which the Python code rounds to there and back. */
  private static final double NARROW_ROUNDINGS = 8;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "LLAMA",
        "GEMMA",
        "T5",
        "PAPER",
        "PARTIAL",
        "ADDED_FIRST",
        "ADDED_BETWEEN",
        "ADDED_LAST",
        "RMS_NORM",
        "LAYER_NORM",
        "ADDED_LAYER_NORM"
      })
  void asAutogradHasThem(String norm) throws IOException {
    List<LibtorchAnswer> answers = LibtorchAnswer.of("gradients.txt", norm);
    assertThat(answers).hasSizeGreaterThan(1);
    for (LibtorchAnswer answer : answers) {
      for (Keep keep : Keep.values()) {
        if (keep != Keep.OUTPUT || !norm.equals("PARTIAL")) {
          compare(answer, keep);
        }
      }
    }
  }

  private static void compare(LibtorchAnswer answer, Keep keep) {
    int n = answer.width();
    int rows = answer.rows();
    double[] dgain = new double[n];
    double[] dbias = new double[n];
    try (Arena arena = Arena.ofConfined()) {
      Norm norm = answer.ours();
      Saved saved = new Saved(keep, rows);
      Block x = answer.block(arena, answer.x(), "x");
      Block sum = answer.block(arena, answer.x(), "residual");
      Rows gain = answer.block(arena, answer.weight(), "weight").rows;
      Block bias = answer.block(arena, answer.weight(), "bias");
      Block y = new Block(arena, Place.NATIVE, answer.y(), rows, n, n);
      Block dy = answer.block(arena, answer.y(), "dy");
      Block dx = new Block(arena, Place.NATIVE, answer.x(), rows, n, n);
      ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
      Rows added = bias == null ? null : bias.rows;
      if (sum == null) {
        norm.apply(x.rows, gain, added, y.rows, saved);
        norm.backward(dy.rows, saved, dx.rows, gradients);
      } else {
        Block dresidual = answer.block(arena, answer.x(), "dresidual");
        norm.addAndApply(x.rows, sum.rows, gain, added, y.rows, saved);
        norm.backward(dy.rows, saved, dresidual.rows, dx.rows, gradients);
      }
      String what = answer + ", kept " + keep;
      for (int row = 0; row < rows; row++) {
        double[] theirs = Arrays.copyOfRange(answer.lines().get("dx"), row * n, (row + 1) * n);
        close(answer, what + ": dx of row " + row, dx.values(row), theirs);
      }
    }
    close(answer, answer + ", kept " + keep + ": dgain", dgain, answer.lines().get("dgain"));
    if (answer.lines().containsKey("dbias")) {
      close(answer, answer + ", kept " + keep + ": dbias", dbias, answer.lines().get("dbias"));
    }
  }

  private static void close(LibtorchAnswer answer, String what, double[] ours, double[] theirs) {
    double largest = Arrays.stream(theirs).map(Math::abs).max().orElseThrow();
    double rounding =
        List.of(answer.x(), answer.weight(), answer.y()).stream()
            .mapToDouble(LibtorchGradientsTest::rounding)
            .max()
            .getAsDouble();
    for (int i = 0; i < theirs.length; i++) {
      double roundings = Math.abs(ours[i] - theirs[i]) / (rounding * largest);
      assertThat(roundings)
          .as("%s, element %d: %s, libtorch has %s, in roundings", what, i, ours[i], theirs[i])
          .isLessThan(rounding > 0x1p-20 ? NARROW_ROUNDINGS : ROUNDINGS);
    }
  }

  private static double rounding(ElementType type) {
    return switch (type) {
      case FLOAT64 -> 0x1p-53;
      case FLOAT32 -> 0x1p-24;
      case FLOAT16 -> 0x1p-11;
      case BFLOAT16 -> 0x1p-8;
    };
  }
}
