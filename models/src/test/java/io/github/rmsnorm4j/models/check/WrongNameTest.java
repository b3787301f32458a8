package io.github.rmsnorm4j.models.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.models.check.CheckReport.Status;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Norms that are in no table, and outputs of no norm, get no other norm's name. */
class WrongNameTest {
  private static final int WIDTH = 64;

  private static double[][] rows(Random random, int rows, double size) {
    double[][] x = new double[rows][WIDTH];
    for (double[] row : x) {
      for (int i = 0; i < WIDTH; i++) {
        row[i] = (float) (size * random.nextGaussian());
      }
    }
    return x;
  }

  private static double[] normalised(double[] row, double epsilon, EpsilonPlacement place) {
    float[] x = new float[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
      x[i] = (float) row[i];
    }
    float[] y = new float[WIDTH];
    RmsNorm.builder(WIDTH).epsilon(epsilon).epsilonPlacement(place).build().apply(x, y);
    double[] result = new double[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
      result[i] = y[i];
    }
    return result;
  }

  private static CheckReport check(ElementType stored, double[][] rows, double[][] y) {
    Sample sample = TypedRows.sample(TypedRows.of(rows, stored), y, stored, null, null);
    return new NormCheck(sample, List.of()).run();
  }

  /** The rows and their norm, with epsilon inside the root. */
  private static double[][] normalised(double[][] rows, double epsilon) {
    return Arrays.stream(rows)
        .map(row -> normalised(row, epsilon, EpsilonPlacement.INSIDE))
        .toArray(double[][]::new);
  }

  /** Epsilon 1e-6 outside the root is 10 ulp away in the last row. */
  @Test
  void anEpsilonOfNoTableIsNotNamedAsOneOfAnotherPlace() {
    double[][] rows = rows(new Random(1), 64, 1);
    CheckReport report = check(ElementType.FLOAT32, rows, normalised(rows, 3e-6));
    assertThat(report.named().getFirst().epsilonAt()).isEqualTo("inside");
    assertThat(report.named()).anyMatch(norm -> norm.epsilon() == 3e-6);
  }

  /** Where one norm alone is named, it has the place of the truth and its epsilon, nearly. */
  @Test
  void norMayItBeSoForAnyEpsilon() {
    Random random = new Random(2);
    int recognised = 0;
    int undecided = 0;
    for (int pair = 0; pair < 100; pair++) {
      EpsilonPlacement place = EpsilonPlacement.values()[pair % 2];
      double size = Math.pow(10, -3 * random.nextDouble());
      double epsilon = (1.3 + random.nextInt(8)) * Math.pow(10, -4 - random.nextInt(5));
      double[][] x = rows(random, 8, size);
      double[][] y = new double[x.length][];
      Arrays.setAll(y, row -> normalised(x[row], epsilon, place));
      CheckReport report = check(ElementType.FLOAT32, x, y);
      String what = "%s, epsilon %s, size %s: %s".formatted(place, epsilon, size, report.verdict());
      assertThat(report.named()).as(what).isNotEmpty();
      Finding first = report.named().getFirst();
      if (report.status() == Status.RECOGNIZED) {
        recognised++;
        assertThat(first.epsilonAt()).as(what).isEqualToIgnoringCase(place.name());
        assertThat(first.epsilon()).as(what).isCloseTo(epsilon, withinPercentage(25));
      } else {
        undecided++;
      }
    }
    assertThat(recognised).isGreaterThan(10);
    assertThat(undecided).isGreaterThan(10);
  }

  /** As NumPy stores the numbers of a list. */
  @Test
  void float32NumbersMayBeStoredAsFloat64() {
    double[][] rows = rows(new Random(3), 20, 0.05);
    CheckReport report = check(ElementType.FLOAT64, rows, normalised(rows, 1e-6));
    assertThat(report.status()).isNotEqualTo(Status.UNKNOWN);
    assertThat(report.named()).anyMatch(norm -> norm.epsilon() == 1e-6);
    assertThat(report.named()).allMatch(norm -> norm.inputType().equals("f32"));
  }

  @ParameterizedTest
  @CsvSource({"BFLOAT16, 3", "FLOAT32, 20"})
  void anXThatIsLeftAsItIsIsNoNormsOutput(ElementType type, int count) {
    double[][] rows = rows(new Random(6), count, 1);
    CheckReport report = check(type, rows, rows);
    assertThat(report.status()).isEqualTo(Status.UNKNOWN);
    assertThat(report.verdict().getFirst()).startsWith("Y is X itself");
  }

  /** Squares that overflow in float32 make zeros, with the signs of X. */
  @Test
  void zerosOfBothSignsTellNothing() {
    double[][] rows = rows(new Random(7), 4, 1);
    double[][] zeros = new double[rows.length][];
    Arrays.setAll(zeros, i -> Arrays.stream(rows[i]).map(x -> 0 * x).toArray());
    assertThatThrownBy(() -> check(ElementType.FLOAT32, rows, zeros))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("every element of Y is")
        .hasMessageContaining("0.0, that tells nothing");
  }
}
