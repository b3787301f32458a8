package io.github.rmsnorm4j.models.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.models.check.CheckReport.Status;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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

  private static Sample sample(ElementType type) {
    return new Sample(WIDTH, type, type, null, null, null, null);
  }

  /** The rows and their norm, with epsilon inside the root. */
  private static Sample normalised(ElementType stored, double[][] rows, double epsilon) {
    Sample sample = sample(stored);
    for (double[] row : rows) {
      sample.add(row, normalised(row, epsilon, EpsilonPlacement.INSIDE), null);
    }
    return sample;
  }

  private static CheckReport check(Sample sample) {
    return new NormCheck(sample, List.of()).run(() -> {});
  }

  /** Epsilon 1e-6 outside the root is 10 ulp away in the last row. */
  @Test
  void anEpsilonOfNoTableIsNotNamedAsOneOfAnotherPlace() {
    double[][] rows = rows(new Random(1), 64, 1);
    CheckReport report = check(normalised(ElementType.FLOAT32, rows, 3e-6));
    assertThat(report.named().getFirst().epsilonAt()).isEqualTo("inside");
    assertThat(report.leastEpsilon()).isLessThanOrEqualTo(3e-6);
    assertThat(report.greatestEpsilon()).isGreaterThanOrEqualTo(3e-6);
  }

  /** Where one norm alone is named, it has the place of the truth, and its range the epsilon. */
  @Test
  void norMayItBeSoForAnyEpsilon() {
    Random random = new Random(2);
    int recognised = 0;
    int undecided = 0;
    for (int pair = 0; pair < 400; pair++) {
      EpsilonPlacement place = EpsilonPlacement.values()[pair % 2];
      double size = Math.pow(10, -3 * random.nextDouble());
      double epsilon = (1.3 + random.nextInt(8)) * Math.pow(10, -4 - random.nextInt(5));
      Sample sample = sample(ElementType.FLOAT32);
      for (double[] row : rows(random, 8, size)) {
        sample.add(row, normalised(row, epsilon, place), null);
      }
      CheckReport report = check(sample);
      String what = "%s, epsilon %s, size %s: %s".formatted(place, epsilon, size, report.verdict());
      assertThat(report.named()).as(what).isNotEmpty();
      Finding first = report.named().getFirst();
      assertThat(first.epsilon())
          .as(what)
          .isBetween(report.leastEpsilon(), report.greatestEpsilon());
      if (report.status() == Status.RECOGNISED) {
        recognised++;
        assertThat(first.epsilonAt()).as(what).isEqualToIgnoringCase(place.name());
        assertThat(epsilon).as(what).isBetween(report.leastEpsilon(), report.greatestEpsilon());
      } else {
        undecided++;
      }
    }
    assertThat(recognised).isGreaterThan(40);
    assertThat(undecided).isGreaterThan(40);
  }

  /** As NumPy stores the numbers of a list. */
  @Test
  void float32NumbersMayBeStoredAsFloat64() {
    double[][] rows = rows(new Random(3), 20, 0.05);
    CheckReport report = check(normalised(ElementType.FLOAT64, rows, 1e-6));
    assertThat(report.status()).isNotEqualTo(Status.UNKNOWN);
    assertThat(report.named()).anyMatch(norm -> norm.epsilon() == 1e-6);
    assertThat(report.named()).allMatch(norm -> norm.inputType().equals("f32"));
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY})
  void rowsThatAreNotFiniteContradict(double wrong) {
    Sample sample = sample(ElementType.FLOAT32);
    for (double[] row : rows(new Random(4), 20, 0.05)) {
      double[] y = normalised(row, 1e-6, EpsilonPlacement.INSIDE);
      y[7] = sample.rows() >= 10 ? wrong : y[7];
      sample.add(row, y, null);
    }
    CheckReport report = check(sample);
    assertThat(report.status()).isEqualTo(Status.UNKNOWN);
    assertThat(report.contradicting()).isEqualTo(10);
    assertThat(report.verdict().getFirst()).contains("No norm makes 10 of the rows");
  }

  @ParameterizedTest
  @CsvSource({"0, RECOGNISED", "7, UNKNOWN"})
  void aZeroRowMustGiveTheBias(double y, Status status) {
    Sample sample = sample(ElementType.FLOAT32);
    for (double[] row : rows(new Random(5), 20, 0.01)) {
      sample.add(row, normalised(row, 1e-5, EpsilonPlacement.INSIDE), null);
    }
    double[] zero = new double[WIDTH];
    double[] made = new double[WIDTH];
    made[3] = y;
    sample.add(zero, made, null);
    CheckReport report = check(sample);
    assertThat(report.status()).as(report.verdict().toString()).isEqualTo(status);
    assertThat(report.contradicting()).isEqualTo(y == 0 ? 0 : 1);
  }

  @ParameterizedTest
  @CsvSource({"BFLOAT16, 3", "FLOAT32, 20"})
  void anXThatIsLeftAsItIsIsNoNormsOutput(ElementType type, int count) {
    Sample sample = sample(type);
    for (double[] row : rows(new Random(6), count, 1)) {
      for (int i = 0; i < WIDTH; i++) {
        row[i] = type.round(row[i]);
      }
      sample.add(row, row.clone(), null);
    }
    CheckReport report = check(sample);
    assertThat(report.status()).isEqualTo(Status.UNKNOWN);
    assertThat(report.unchanged()).isTrue();
    assertThat(report.verdict().getFirst()).startsWith("Y is X itself");
  }

  /** LayerNorm as x * rstd - mean * rstd, of rows with a mean: Flax, and libtorch on CPUs. */
  @ParameterizedTest
  @CsvSource({"0, false", "1, false", "10, false", "0, true", "1, true", "10, true"})
  void aShiftedLayerNormIsRecognised(double mean, boolean fused) {
    Random random = new Random(7);
    int width = 768;
    Sample sample =
        new Sample(width, ElementType.FLOAT32, ElementType.FLOAT32, null, null, null, null);
    for (int r = 0; r < 8; r++) {
      float[] x = new float[width];
      double sum = 0;
      double squares = 0;
      for (int i = 0; i < width; i++) {
        x[i] = (float) (0.3 * (random.nextGaussian() + mean));
        sum += x[i];
        squares += (double) x[i] * x[i];
      }
      float rowMean = (float) (sum / width);
      double variance = squares / width - sum / width * (sum / width);
      float rstd = (float) (1 / Math.sqrt(variance + 1e-5));
      float shift = -rowMean * rstd;
      double[] row = new double[width];
      double[] y = new double[width];
      for (int i = 0; i < width; i++) {
        row[i] = x[i];
        y[i] = fused ? Math.fma(x[i], rstd, shift) : x[i] * rstd + shift;
      }
      sample.add(row, y, null);
    }
    CheckReport report = check(sample);
    assertThat(report.named()).as(report.verdict().toString()).isNotEmpty();
    assertThat(report.named().getFirst().kind()).contains(fused ? "fused shift" : "shifted");
    assertThat(1e-5).isBetween(report.leastEpsilon(), report.greatestEpsilon());
  }
}
