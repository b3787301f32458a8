package io.github.rmsnorm4j.models.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.rmsnorm4j.ElementType;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
    return made(layer, 1e-6, 0, formula);
  }

  private double[][] made(boolean layer, double epsilon, int lost, Formula formula) {
    double[][] y = new double[x.length][WIDTH];
    for (int row = 0; row < x.length; row++) {
      double mean = layer ? Arrays.stream(x[row]).average().orElseThrow() : 0;
      double squares = Arrays.stream(x[row]).map(v -> (v - mean) * (v - mean)).sum();
      for (int i = 0; i < WIDTH; i++) {
        double n = (x[row][i] - mean) / Math.sqrt(squares / (WIDTH - lost) + epsilon);
        y[row][i] = (float) formula.at(n, i);
      }
    }
    return y;
  }

  private CheckReport check(double[] gain, double[] bias, double[][] y) {
    Sample sample = new Sample(WIDTH, TYPE, TYPE, gain, gain == null ? null : TYPE, bias, null);
    for (int row = 0; row < x.length; row++) {
      sample.add(x[row], y[row], null);
    }
    return new NormCheck(sample, List.of()).run(() -> {});
  }

  private String verdict(double[] gain, double[] bias, double[][] y) {
    CheckReport report = check(gain, bias, y);
    assertThat(report.status()).isEqualTo(CheckReport.Status.UNKNOWN);
    return String.join(" ", report.verdict());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aGainThatWasNotApplied(boolean layer) {
    String name = layer ? "LayerNorm" : "RMSNorm";
    String verdict = verdict(gain, null, made(layer, (n, _) -> n));
    assertThat(verdict)
        .contains(name + " with epsilon ", " without --gain comes within ", " % of Y.");
  }

  @Test
  void aGainThatIsMissing() {
    String verdict = verdict(null, null, made(false, (n, i) -> n * gain[i]));
    double least = Arrays.stream(gain).min().orElseThrow();
    assertThat(verdict)
        .contains("RMSNorm with epsilon ", " with a gain from %.4f to ".formatted(least));
    assertThat(verdict).doesNotContain("--gain", "bias");
  }

  @Test
  void theGainOfAnotherNorm() {
    String verdict = verdict(gain, null, made(false, (n, i) -> n * other[i]));
    assertThat(verdict)
        .contains("RMSNorm with epsilon ", " with a gain from ", ", which is not --gain, comes");
  }

  @Test
  void aSumInPlaceOfAMean() {
    double root = Math.sqrt(WIDTH);
    String verdict = verdict(gain, null, made(false, (n, i) -> n / root * gain[i]));
    assertThat(verdict).contains(" times 0.1250, 1 / sqrt(width), so an L2 norm, comes");
  }

  @Test
  void aFactor() {
    String verdict = verdict(gain, null, made(false, (n, i) -> n * 3 * gain[i]));
    assertThat(verdict).contains(" times 3.000 comes");
  }

  @Test
  void aBiasThatIsMissingOrAnother() {
    double[][] y = made(true, (n, i) -> n * gain[i] + bias[i]);
    assertThat(verdict(gain, null, y)).contains("LayerNorm with epsilon ", " plus a bias from ");
    assertThat(verdict(gain, other, y))
        .contains(" plus a bias from ", ", which is not --bias, comes");
  }

  /** Exact in float64 and rounded once: named, with its epsilon, whether that is a usual one. */
  @ParameterizedTest
  @CsvSource({"false, 1e-6", "true, 1e-6", "false, 3.3e-4", "true, 3.3e-4"})
  void aWiderType(boolean layer, double epsilon) {
    double[][] y = made(layer, epsilon, 0, (n, i) -> n * gain[i]);
    CheckReport report = check(gain, null, y);
    assertThat(report.named()).describedAs("" + report.verdict()).isNotEmpty();
    Finding first = report.named().getFirst();
    assertThat(first.norm())
        .startsWith(layer ? "LayerNorm" : "RMSNorm")
        .contains("computed in f64");
    assertThat(epsilon).isBetween(report.leastEpsilon(), report.greatestEpsilon());
    assertThat(first.epsilon()).isCloseTo(epsilon, withinPercentage(1));
  }

  /** The distance is that of the norm as it is named; nothing is fitted to each row. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theDistanceAndTheBestEpsilon(boolean layer) {
    double[][] y = made(layer, 0.25, 0, (n, i) -> n * gain[i]);
    for (double[] row : y) {
      double error = 1 + (random.nextBoolean() ? 2e-3 : -2e-3);
      Arrays.setAll(row, i -> (float) (row[i] * error));
    }
    Matcher words =
        Pattern.compile("with epsilon (0\\.\\d+|\\d\\.\\d+e-1) comes within (\\S+) % of Y")
            .matcher(verdict(gain, null, y));
    assertThat(words.find()).isTrue();
    assertThat(Double.parseDouble(words.group(1))).isCloseTo(0.25, withinPercentage(5));
    assertThat(Double.parseDouble(words.group(2))).isBetween(0.15, 0.4);
  }

  /** The sum of squares is divided by the width less 1. */
  @ParameterizedTest
  @CsvSource({"1e-5", "3.3e-4"})
  void theSampleVariance(double epsilon) {
    CheckReport report = check(gain, null, made(true, epsilon, 1, (n, i) -> n * gain[i]));
    assertThat(report.named()).describedAs("" + report.verdict()).isNotEmpty();
    assertThat(report.named())
        .allMatch(norm -> norm.kind().equals("LayerNorm with sample variance"));
    assertThat(report.named().getFirst().epsilon()).isCloseTo(epsilon, withinPercentage(1));
    assertThat(String.join(" ", report.verdict()))
        .contains("divides it by the width - 1, a common mistake of ports", "up to 0.78 % smaller");
  }

  @Test
  void rowsThatHaveNothingToDoWithX() {
    String verdict = verdict(gain, null, TypedRows.random(random, 12, WIDTH, 0, 1, TYPE));
    assertThat(verdict).contains("Perhaps the residual is missing").doesNotContain("comes within");
  }
}
