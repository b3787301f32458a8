package io.github.rmsnorm4j.models.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Norms written in float32 as other systems write them, with their own sums. */
class OtherSumsTest {
  private static final double EPSILON = 1e-5;

  /** Otherwise one mean for each type, no rows of 16,384 elements, and fewer rows and seeds. */
  private static final boolean ALL_DRAWS = Boolean.getBoolean("tests.all");

  /** The order in which float32 numbers are added. */
  enum Order {
    SEQUENTIAL {
      @Override
      float sum(float[] terms, int from, int to) {
        float sum = 0;
        for (int i = from; i < to; i++) {
          sum += terms[i];
        }
        return sum;
      }
    },
    PAIRWISE {
      @Override
      float sum(float[] terms, int from, int to) {
        int middle = (from + to) / 2;
        return to - from == 1 ? terms[from] : sum(terms, from, middle) + sum(terms, middle, to);
      }
    },
    LANES {
      @Override
      float sum(float[] terms, int from, int to) {
        float[] lanes = new float[8];
        for (int i = from; i < to; i++) {
          lanes[i & 7] += terms[i];
        }
        return SEQUENTIAL.sum(lanes, 0, 8);
      }
    };

    abstract float sum(float[] terms, int from, int to);

    float mean(float[] terms) {
      return sum(terms, 0, terms.length) / terms.length;
    }
  }

  private static double[][] rmsNorm(double[][] x, double[] gain, ElementType type, Order order) {
    double[][] y = new double[x.length][];
    for (int row = 0; row < x.length; row++) {
      float[] squares = new float[x[row].length];
      for (int i = 0; i < squares.length; i++) {
        squares[i] = (float) x[row][i] * (float) x[row][i];
      }
      float rstd = 1 / (float) Math.sqrt(order.mean(squares) + (float) EPSILON);
      y[row] = new double[squares.length];
      for (int i = 0; i < squares.length; i++) {
        double normalised = type.round((float) x[row][i] * rstd);
        y[row][i] = type.round((float) normalised * (float) gain[i]);
      }
    }
    return y;
  }

  private static double[][] layerNorm(double[][] x, double[] gain, ElementType type, Order order) {
    double[][] y = new double[x.length][];
    for (int row = 0; row < x.length; row++) {
      float[] values = new float[x[row].length];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) x[row][i];
      }
      float mean = order.mean(values);
      float[] squares = new float[values.length];
      for (int i = 0; i < values.length; i++) {
        squares[i] = (values[i] - mean) * (values[i] - mean);
      }
      float rstd = 1 / (float) Math.sqrt(order.mean(squares) + (float) EPSILON);
      y[row] = new double[values.length];
      for (int i = 0; i < values.length; i++) {
        y[row][i] = type.round((values[i] - mean) * rstd * (float) gain[i]);
      }
    }
    return y;
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void recognisesSumsInOtherOrders(Order order) {
    Random random = new Random(16);
    for (ElementType type : List.of(ElementType.FLOAT32, ElementType.BFLOAT16)) {
      for (double mean : new double[] {0, 3}) {
        if (!ALL_DRAWS && (mean == 0) != (type == ElementType.FLOAT32)) {
          continue;
        }
        for (int width : new int[] {16, 100, 768, 4096}) {
          assertNamed(random, order, type, 1, width, mean);
          assertNamed(random, order, type, ALL_DRAWS || width < 4096 ? 20 : 3, width, mean);
        }
        if (ALL_DRAWS) {
          assertNamed(random, order, type, 5, 16384, mean);
        }
      }
    }
  }

  /**
   * The mean is 0 but for roundings, so a sum in float32 has no digit of it; or it is 1, and the
   * float32 numbers below 1 are nearer to each other than those above.
   */
  @ParameterizedTest
  @EnumSource(Order.class)
  void recognisesRowsThatAreCentredOrHaveAMeanOfOne(Order order) {
    for (int mean = 0; mean <= 1; mean++) {
      for (int seed = 0; seed < (ALL_DRAWS ? 10 : 3); seed++) {
        Random random = new Random(seed);
        int width = new int[] {64, 768, 4096}[seed % 3];
        double[][] x = TypedRows.random(random, 6, width, 0, 1, ElementType.FLOAT32);
        for (double[] row : x) {
          double shift = mean - Arrays.stream(row).average().orElseThrow();
          Arrays.setAll(row, i -> (float) (row[i] + shift));
        }
        double[] gain = TypedRows.random(random, 1, width, 1, 0.5, ElementType.FLOAT32)[0];
        double[][] y = layerNorm(x, gain, ElementType.FLOAT32, order);
        String what = "%s, seed %d, mean %d".formatted(order, seed, mean);
        assertNamed(what, "LayerNorm", x, gain, ElementType.FLOAT32, y);
      }
    }
  }

  /** Squares of bfloat16 rows with a mean have few digits: in one chain they err the most. */
  @Test
  void recognisesTheWorstSums() {
    Random random = new Random(7);
    for (double mean : new double[] {3, 30}) {
      double[][] x = TypedRows.random(random, 20, 4096, mean, 0.05, ElementType.BFLOAT16);
      double[] gain = TypedRows.random(random, 1, 4096, 1, 0.5, ElementType.BFLOAT16)[0];
      double[][] y = rmsNorm(x, gain, ElementType.BFLOAT16, Order.SEQUENTIAL);
      assertNamed("mean " + mean, "RMSNorm", x, gain, ElementType.BFLOAT16, y);
    }
  }

  private static CheckReport check(
      double[][] x, ElementType xType, double[][] y, ElementType yType, double[] gain) {
    Sample sample = TypedRows.sample(TypedRows.of(x, xType), y, yType, gain, null);
    return new NormCheck(sample, List.of()).run();
  }

  private static void assertNamed(
      Random random, Order order, ElementType type, int rows, int width, double mean) {
    double[][] x = TypedRows.random(random, rows, width, mean, 0.05, type);
    double[] gain = TypedRows.random(random, 1, width, 1, 0.5, type)[0];
    String what = "%s, %d of %d, mean %s".formatted(type, rows, width, mean);
    assertNamed(what, "RMSNorm", x, gain, type, rmsNorm(x, gain, type, order));
    assertNamed(what, "LayerNorm", x, gain, type, layerNorm(x, gain, type, order));
  }

  private static void assertNamed(
      String what, String kind, double[][] x, double[] gain, ElementType type, double[][] y) {
    CheckReport report = check(x, type, y, type, gain);
    String order = kind.equals("RMSNorm") ? "llama" : "float32";
    assertThat(report.named())
        .describedAs("%s, %s; %s", kind, what, report.verdict())
        .anyMatch(
            norm ->
                norm.kind().equals(kind)
                    && norm.castOrders().contains(order)
                    && norm.epsilon() == EPSILON
                    && norm.epsilonAt().equals("inside")
                    && norm.part() == gain.length
                    && norm.gainOffset() == 0);
  }

  /** LayerNorm and L2 norm as NumPy code has them: x minus its mean, divided by the root. */
  @ParameterizedTest
  @CsvSource({"LayerNorm, 1e-5", "LayerNorm, 1e-12", "L2 norm, 0"})
  void recognisesNormsThatDivide(String kind, float epsilon) {
    Random random = new Random(21);
    for (Order order : Order.values()) {
      double[][] x = TypedRows.random(random, 20, 96, 0.1, 0.05, ElementType.FLOAT32);
      double[] gain = TypedRows.random(random, 1, 96, 1, 0.5, ElementType.FLOAT32)[0];
      double[] bias = TypedRows.random(random, 1, 96, 0, 0.3, ElementType.FLOAT32)[0];
      double[][] y = new double[x.length][];
      for (int row = 0; row < x.length; row++) {
        float[] centered = new float[96];
        float[] squares = new float[96];
        for (int i = 0; i < 96; i++) {
          centered[i] = (float) x[row][i];
        }
        float mean = kind.equals("LayerNorm") ? order.mean(centered) : 0;
        for (int i = 0; i < 96; i++) {
          centered[i] -= mean;
          squares[i] = centered[i] * centered[i];
        }
        float sum = order.sum(squares, 0, 96);
        float root = (float) Math.sqrt(kind.equals("LayerNorm") ? sum / 96 + epsilon : sum);
        y[row] = new double[96];
        for (int i = 0; i < 96; i++) {
          y[row][i] = centered[i] / root * (float) gain[i] + (float) bias[i];
        }
      }
      ElementType type = ElementType.FLOAT32;
      Sample sample = TypedRows.sample(TypedRows.of(x, type), y, type, gain, bias);
      CheckReport report = new NormCheck(sample, List.of()).run();
      assertThat(report.named())
          .describedAs("%s, %s", order, report.verdict())
          .anyMatch(
              norm ->
                  norm.kind().equals(kind)
                      && norm.castOrders().equals(List.of("divided"))
                      && Math.abs(norm.epsilon() - epsilon) <= 1e-6 * epsilon);
      assertThat(report.named()).allMatch(norm -> norm.spec() == null);
    }
  }

  /** As PyTorch computes it from 16-bit tensors: each product and each sum is rounded. */
  @Test
  void recognisesABiasAfterTheOrderOfLlama() {
    Random random = new Random(22);
    ElementType type = ElementType.BFLOAT16;
    double[][] x = TypedRows.random(random, 20, 96, 0, 0.05, type);
    double[] gain = TypedRows.random(random, 1, 96, 1, 0.5, type)[0];
    double[] bias = TypedRows.random(random, 1, 96, 0, 0.3, type)[0];
    double[][] y = rmsNorm(x, gain, type, Order.LANES);
    for (double[] row : y) {
      Arrays.setAll(row, i -> type.round(row[i] + bias[i]));
    }
    Sample sample = TypedRows.sample(TypedRows.of(x, type), y, type, gain, bias);
    CheckReport report = new NormCheck(sample, List.of()).run();
    assertThat(report.named())
        .describedAs("" + report.verdict())
        .anyMatch(norm -> norm.castOrders().contains("llama") && norm.epsilon() == EPSILON);
  }

  /** A norm that makes all elements with some rstd need not have the bits of this library. */
  @Test
  void saysHowManyElementsHaveTheRstdOfThisLibrary() {
    Random random = new Random(9);
    int width = 768;
    ElementType type = ElementType.FLOAT32;
    double[][] x = TypedRows.random(random, 20, width, 0, 0.05, type);
    double[] gain = TypedRows.random(random, 1, width, 1, 0.5, type)[0];
    double[][] y = rmsNorm(x, gain, type, Order.SEQUENTIAL);
    Rows own = TypedRows.of(new double[x.length][width], type);
    RmsNorm.builder(width).epsilon(EPSILON).gain(gain).build().apply(TypedRows.of(x, type), own);
    double[][] ofLibrary = TypedRows.values(own);
    long equal = 0;
    for (int row = 0; row < x.length; row++) {
      for (int i = 0; i < width; i++) {
        equal += y[row][i] == ofLibrary[row][i] ? 1 : 0;
      }
    }
    String sentence =
        String.format(
            Locale.ROOT,
            ": %,d of %,d elements that were compared are equal, and all are if the rstd",
            equal,
            x.length * width);
    assertThat(equal).isBetween(1L, x.length * width - 1L);
    CheckReport report = check(x, type, y, type, gain);
    assertThat(report.verdict().getFirst()).contains(sentence);
    assertThat(report.verdict()).noneMatch(said -> said.startsWith("normalize --like"));
    assertThat(report.named().getFirst().ownEqual()).isEqualTo(equal);
  }

  /** bfloat16 rows that are stored as float32, as NumPy files have to. */
  @Test
  void seesThroughAWiderType() {
    Random random = new Random(5);
    double[][] x = TypedRows.random(random, 20, 300, 0, 0.05, ElementType.BFLOAT16);
    double[] gain = TypedRows.random(random, 1, 300, 1, 0.5, ElementType.BFLOAT16)[0];
    double[][] y = rmsNorm(x, gain, ElementType.BFLOAT16, Order.PAIRWISE);
    ElementType stored = ElementType.FLOAT32;
    CheckReport report = check(x, stored, y, stored, gain);
    assertThat(report.named())
        .isNotEmpty()
        .allMatch(norm -> norm.inputType().equals("bf16") && norm.outputType().equals("bf16"))
        .anyMatch(norm -> norm.castOrders().contains("llama") && norm.epsilon() == EPSILON);
    assertThat(report.verdict().getFirst()).contains("X as bf16, Y as bf16");
  }

  /** float32 rows that were rounded to bfloat16 before the norm. */
  @Test
  void seesThatTheRowsWereRoundedFirst() {
    Random random = new Random(6);
    double[][] wide = TypedRows.random(random, 20, 300, 0, 0.05, ElementType.FLOAT32);
    double[][] x = new double[wide.length][300];
    for (int row = 0; row < x.length; row++) {
      for (int i = 0; i < 300; i++) {
        x[row][i] = ElementType.BFLOAT16.round(wide[row][i]);
      }
    }
    double[] gain = TypedRows.random(random, 1, 300, 1, 0.5, ElementType.BFLOAT16)[0];
    double[][] y = rmsNorm(x, gain, ElementType.BFLOAT16, Order.LANES);
    CheckReport report = check(wide, ElementType.FLOAT32, y, ElementType.BFLOAT16, gain);
    assertThat(report.named()).isNotEmpty().allMatch(norm -> norm.inputType().equals("bf16"));
  }
}
