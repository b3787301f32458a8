package io.github.rmsnorm4j.models.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.Rows;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Y that a norm makes but for some elements, or with other parameters than those given. */
class NearNormTest {
  private static final int WIDTH = 64;
  private static final int ROWS = 100;
  private static final ElementType TYPE = ElementType.FLOAT32;

  private final Random random = new Random(20261123);
  private final double[][] x = TypedRows.random(random, ROWS, WIDTH, 0.4, 1, TYPE);
  private final double[] gain = TypedRows.random(random, 1, WIDTH, 1, 0.4, TYPE)[0];

  private interface Formula {
    double at(double n, int i);
  }

  /** In float64 throughout, with the formula for each element, rounded at the end. */
  private double[][] written(boolean layer, double epsilon, Formula formula) {
    double[][] y = new double[x.length][WIDTH];
    for (int row = 0; row < x.length; row++) {
      double mean = layer ? Arrays.stream(x[row]).average().orElseThrow() : 0;
      double squares = Arrays.stream(x[row]).map(v -> (v - mean) * (v - mean)).sum();
      for (int i = 0; i < WIDTH; i++) {
        double n = (x[row][i] - mean) / Math.sqrt(squares / WIDTH + epsilon);
        y[row][i] = (float) formula.at(n, i);
      }
    }
    return y;
  }

  private double[][] made(NormSpec spec, double[] gain) {
    Rows out = TypedRows.of(new double[ROWS][WIDTH], TYPE);
    var builder = spec.builder(WIDTH);
    (gain == null ? builder : builder.gain(gain)).build().apply(TypedRows.of(x, TYPE), out);
    return TypedRows.values(out);
  }

  private CheckReport check(double[] gain, double[] bias, double[][] y) {
    Sample sample = TypedRows.sample(TypedRows.of(x, TYPE), y, TYPE, gain, bias);
    return new NormCheck(sample, List.of()).run();
  }

  private String unknown(double[] gain, double[] bias, double[][] y) {
    CheckReport report = check(gain, bias, y);
    assertThat(report.status()).isEqualTo(CheckReport.Status.UNKNOWN);
    assertThat(report.named()).isEmpty();
    return String.join(" ", report.verdict());
  }

  /** Of RMSNorm with epsilon 1e-6 and a gain, after some elements were changed. */
  private String unlike(Consumer<double[][]> change) {
    double[][] y = made(NormSpec.RMSNORM, gain);
    change.accept(y);
    return unknown(gain, null, y);
  }

  @Test
  void oneElementThatDiffers() {
    assertThat(unlike(y -> y[50][3] = Math.nextUp((float) y[50][3])))
        .isEqualTo(
            "None of the norms known here made Y. RMSNorm, float32, eps 1e-6 makes all but 1 of"
                + " 6,400 elements. That one is in column 3 of row 50 (counted from 0).");
  }

  @Test
  void rangesOfRowsAndColumns() {
    double[][] y = made(NormSpec.RMSNORM, gain);
    for (int row : new int[] {2, 3, 9}) {
      Arrays.fill(y[row], 4, 7, 99);
    }
    CheckReport report = check(gain, null, y);
    assertThat(report.differingRows()).isEqualTo(List.of(List.of(2L, 3L), List.of(9L, 9L)));
    assertThat(report.differingColumns()).isEqualTo(List.of(List.of(4L, 6L)));
    assertThat(check(gain, null, made(NormSpec.RMSNORM, gain)).differingRows()).isEmpty();
  }

  @Test
  void aColumnOfSomeRows() {
    assertThat(
            unlike(
                y -> {
                  y[2][0] = 1.5;
                  y[4][0] = 2.5;
                  y[6][0] = -3.5;
                }))
        .contains("makes all but 3 of 6,400 elements. Those are in column 0 of rows 2, 4, 6 (");
  }

  /** They decide nothing, however large they are and whether they are among the first rows. */
  @ParameterizedTest
  @ValueSource(doubles = {1e30, 0, Double.NaN, Double.NEGATIVE_INFINITY})
  void grossElements(double gross) {
    assertThat(
            unlike(
                y -> {
                  Arrays.fill(y[0], gross);
                  Arrays.fill(y[1], 7, 20, gross);
                  y[99][63] = gross;
                }))
        .contains(
            "RMSNorm, float32, eps 1e-6 makes all but 78 of 6,400 elements. Those are in columns 0"
                + " to 63 of rows 0 to 1, 99, the first at row 0 column 0 (counted from 0).");
  }

  /** Of 1,024 rows: wrong ones at a regular distance are no larger share of the rows looked at. */
  @ParameterizedTest
  @ValueSource(ints = {4, 16, 64, 128})
  void rowsAtARegularDistance(int distance) {
    double[][] rows = TypedRows.random(random, 1024, WIDTH, 0.4, 1, TYPE);
    double[][] y = new double[rows.length][WIDTH];
    for (int row = 0; row < rows.length; row++) {
      double squares = Arrays.stream(rows[row]).map(v -> v * v).sum();
      for (int i = 0; i < WIDTH; i++) {
        boolean wrong = row % distance == 0;
        y[row][i] = wrong ? 7 : (float) (rows[row][i] / Math.sqrt(squares / WIDTH + 1e-6));
      }
    }
    Sample sample = TypedRows.sample(TypedRows.of(rows, TYPE), y, TYPE, null, null);
    String left = String.format(Locale.ROOT, "%,d", 1024 / distance * WIDTH);
    assertThat(String.join(" ", new NormCheck(sample, List.of()).run().verdict()))
        .contains("eps 1e-6, computed in f64 makes all but " + left + " of 65,536 elements");
  }

  /** The rows that are left name the norm. */
  @ParameterizedTest
  @ValueSource(ints = {40, 45, 55, 60, 90})
  void mostRowsAreGross(int wrong) {
    double[][] y = written(false, 1e-5, (n, i) -> n);
    for (int row = 0; row < wrong; row++) {
      Arrays.fill(y[row], 1.5);
    }
    String left = String.format(Locale.ROOT, "%,d", (wrong < 50 ? wrong : 100 - wrong) * WIDTH);
    assertThat(unknown(null, null, y))
        .contains(wrong < 50 ? "" : "It makes every element of rows " + wrong + " to 99 (")
        .contains("eps 1e-5, computed in f64")
        .contains((wrong < 50 ? "makes all but " : "makes ") + left + " of 6,400 elements");
  }

  @Test
  void mostColumnsAreGross() {
    assertThat(unknown(null, null, written(false, 1e-5, (n, i) -> i < 24 ? n : 3 * n)))
        .contains("It makes every element of columns 0 to 23 (counted from 0).");
  }

  /** A third of the rows, and in the others a column. */
  @Test
  void manyElements() {
    assertThat(
            unlike(
                y -> {
                  for (int row = 0; row < ROWS; row++) {
                    Arrays.fill(y[row], 5, row % 3 == 0 ? WIDTH : 6, 0);
                  }
                }))
        .contains("RMSNorm, float32, eps 1e-6 makes all but 2,072 of 6,400 elements. Those are");
  }

  /** Each group of 16 has a root of its own. */
  @ParameterizedTest
  @CsvSource({"rmsnorm, RMSNorm", "layernorm, LayerNorm", "l2, L2 norm"})
  void groups(String preset, String kind) {
    double[][] y = made(NormSpec.parse(preset + "(groupcount=4)"), gain);
    Finding found = check(gain, null, y).named().getFirst();
    assertThat(found.norm()).startsWith(kind).contains("4 groups of 16");
    assertThat(made(NormSpec.parse(found.spec()), gain)).isDeepEqualTo(y);
    y[3][17] = 0;
    assertThat(unknown(gain, null, y)).contains("all but 1 of", "in column 17 of row 3");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aGainThatWasNotApplied(boolean layer) {
    double[][] y = made(layer ? NormSpec.LAYERNORM : NormSpec.RMSNORM, null);
    String name = layer ? "LayerNorm, float32, eps 1e-5" : "RMSNorm, float32, eps 1e-6";
    assertThat(unknown(gain, null, y))
        .contains(name + " without --gain makes it: all 6,400 elements that were compared are");
    y[7][7] = 9;
    assertThat(unknown(gain, null, y))
        .contains(name + " without --gain makes all but 1 of 6,400", "column 7 of row 7");
  }

  @Test
  void aBiasThatWasNotApplied() {
    double[] bias = TypedRows.random(random, 1, WIDTH, 0, 0.3, TYPE)[0];
    assertThat(unknown(gain, bias, made(NormSpec.LAYERNORM, gain)))
        .contains("LayerNorm, float32, eps 1e-5 without --bias makes it");
    assertThat(unknown(gain, bias, made(NormSpec.LAYERNORM, null)))
        .contains("LayerNorm, float32, eps 1e-5 without --gain and --bias makes it");
  }

  @Test
  void aGainOrABiasOfAnother() {
    double[] other = TypedRows.random(random, 1, WIDTH, 1, 0.4, TYPE)[0];
    assertThat(unknown(gain, null, made(NormSpec.RMSNORM, other)))
        .contains(
            "Perhaps the gain, the bias or the residual is missing or is that of another norm");
    assertThat(unknown(null, null, made(NormSpec.RMSNORM, other))).contains("Perhaps the gain");
  }

  /** Exact in float64 and rounded once: named, with its epsilon, whether that is a usual one. */
  @ParameterizedTest
  @CsvSource({"false, 1e-6", "true, 1e-6", "false, 3.3e-4", "true, 3.3e-4"})
  void aWiderType(boolean layer, double epsilon) {
    double[][] y = written(layer, epsilon, (n, i) -> n * gain[i]);
    CheckReport report = check(gain, null, y);
    assertThat(report.named()).describedAs("" + report.verdict()).isNotEmpty();
    Finding first = report.named().getFirst();
    assertThat(first.norm())
        .startsWith(layer ? "LayerNorm" : "RMSNorm")
        .contains("computed in f64");
    assertThat(first.epsilon()).isCloseTo(epsilon, withinPercentage(1));
  }

  @Test
  void rowsThatHaveNothingToDoWithX() {
    assertThat(unknown(gain, null, TypedRows.random(random, ROWS, WIDTH, 0, 1, TYPE)))
        .contains("None comes near. Perhaps the gain, the bias", "or Y is not the output");
  }

  /** Rows of zeros and rows with NaN are as the norm makes them, or are named. */
  @Test
  void rowsThatSayNothing() {
    Arrays.fill(x[1], 0);
    x[2][5] = Double.NaN;
    double[][] y = made(NormSpec.RMSNORM, gain);
    assertThat(check(gain, null, y).named().getFirst().epsilon()).isEqualTo(1e-6);
    y[1][3] = 7;
    assertThat(unknown(gain, null, y)).contains("in column 3 of row 1");
  }
}
