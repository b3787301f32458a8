package io.github.rmsnorm4j.checkpoint.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Norms that are not in the table, or parameters that are not those of the norm. */
class NearNormTest {
  private static final int WIDTH = 64;
  private static final ElementType TYPE = ElementType.FLOAT32;

  private final Random random = new Random(20261123);
  private final double[][] x = TypedRows.random(random, 12, WIDTH, 0.4, 1, TYPE);
  private final double[] gain = TypedRows.random(random, 1, WIDTH, 1, 0.4, TYPE)[0];
  private final double[] other = TypedRows.random(random, 1, WIDTH, 1, 0.4, TYPE)[0];
  private final double[] bias = TypedRows.random(random, 1, WIDTH, 0, 0.3, TYPE)[0];

  private interface Formula {
    double at(double n, int i);
  }

  /** The norm of X with the formula for each element, rounded at the end. */
  private double[][] made(boolean layer, Formula formula) {
    double[][] y = new double[x.length][WIDTH];
    for (int row = 0; row < x.length; row++) {
      double mean = layer ? Arrays.stream(x[row]).average().orElseThrow() : 0;
      double squares = Arrays.stream(x[row]).map(v -> (v - mean) * (v - mean)).sum();
      for (int i = 0; i < WIDTH; i++) {
        double n = (x[row][i] - mean) / Math.sqrt(squares / WIDTH + 1e-6);
        y[row][i] = (float) formula.at(n, i);
      }
    }
    return y;
  }

  private String verdict(double[] gain, double[] bias, double[][] y) {
    Sample sample = new Sample(WIDTH, TYPE, TYPE, gain, gain == null ? null : TYPE, bias);
    for (int row = 0; row < x.length; row++) {
      sample.add(x[row], y[row], null);
    }
    CheckReport report = new NormCheck(sample, List.of()).run(() -> {});
    assertThat(report.status()).isEqualTo(CheckReport.Status.UNKNOWN);
    return String.join(" ", report.verdict());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aGainThatWasNotApplied(boolean layer) {
    String name = layer ? "LayerNorm" : "RMSNorm";
    String verdict = verdict(gain, null, made(layer, (n, _) -> n));
    assertThat(verdict).contains(name + " without --gain comes within ", " % of Y.");
  }

  @Test
  void aGainThatIsMissing() {
    String verdict = verdict(null, null, made(false, (n, i) -> n * gain[i]));
    double least = Arrays.stream(gain).min().orElseThrow();
    assertThat(verdict).contains("RMSNorm with a gain from %.4f to ".formatted(least));
    assertThat(verdict).doesNotContain("--gain", "bias");
  }

  @Test
  void theGainOfAnotherNorm() {
    String verdict = verdict(gain, null, made(false, (n, i) -> n * other[i]));
    assertThat(verdict).contains("RMSNorm with a gain from ", ", which is not --gain, comes");
  }

  @Test
  void aSumInPlaceOfAMean() {
    double root = Math.sqrt(WIDTH);
    String verdict = verdict(gain, null, made(false, (n, i) -> n / root * gain[i]));
    assertThat(verdict).contains("RMSNorm times 0.1250, 1 / sqrt(width), so an L2 norm, comes");
  }

  @Test
  void aFactor() {
    String verdict = verdict(gain, null, made(false, (n, i) -> n * 3 * gain[i]));
    assertThat(verdict).contains("RMSNorm times 3.000 comes");
  }

  @Test
  void aBiasThatIsMissingOrAnother() {
    double[][] y = made(true, (n, i) -> n * gain[i] + bias[i]);
    assertThat(verdict(gain, null, y)).contains("LayerNorm plus a bias from ");
    assertThat(verdict(gain, other, y))
        .contains("LayerNorm plus a bias from ", ", which is not --bias, comes");
  }

  /** One rounding at the end, of a product in float64. */
  @Test
  void aWiderType() {
    String verdict = verdict(gain, null, made(false, (n, i) -> n * gain[i]));
    assertThat(verdict)
        .contains("RMSNorm comes within ", "% of Y: perhaps it was computed in another type.");
  }

  @Test
  void rowsThatHaveNothingToDoWithX() {
    String verdict = verdict(gain, null, TypedRows.random(random, 12, WIDTH, 0, 1, TYPE));
    assertThat(verdict).contains("Perhaps the residual is missing").doesNotContain("comes within");
  }
}
