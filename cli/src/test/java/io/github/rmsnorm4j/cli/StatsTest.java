package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.rows.RowStatistics;
import io.github.rmsnorm4j.reference.Definitions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class StatsTest {
  @TempDir Path folder;

  private RowStatistics statistics(TestTensor tensor, int axis) throws IOException {
    Path path = TestTensor.write(folder.resolve("x.safetensors"), tensor);
    try (TensorFile file = TensorFile.open(path)) {
      Tensor only = file.tensors().getFirst();
      return RowStatistics.of(file, only, axis, Backend.scalar(), bytes -> {});
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Dtype.class,
      names = {"F64", "F32", "F16", "BF16"})
  void measuresRows(Dtype dtype) throws IOException {
    TestTensor x = TestTensor.random("x", dtype, 0.3, 1, 7, 50);
    double[] rms = new double[7];
    double[] ratio = new double[7];
    for (int row = 0; row < 7; row++) {
      double[] values = Arrays.copyOfRange(x.values(), 50 * row, 50 * row + 50);
      double mean = Arrays.stream(values).average().getAsDouble();
      rms[row] = Math.sqrt(Arrays.stream(values).map(v -> v * v).average().getAsDouble());
      ratio[row] = Math.abs(mean) / rms[row];
    }
    Arrays.sort(rms);
    Arrays.sort(ratio);
    RowStatistics rows = statistics(x, -1);
    assertThat(rows.rms.count()).isEqualTo(7);
    assertThat(rows.rms.at(0, value -> value)).isCloseTo(rms[0], within(1e-6));
    assertThat(rows.rms.at(0.5, value -> value)).isCloseTo(rms[3], within(1e-3));
    assertThat(rows.rms.at(1, value -> value)).isCloseTo(rms[6], within(1e-6));
    assertThat(rows.meanRatio.at(0, value -> value)).isCloseTo(ratio[0], within(1e-6));
    assertThat(rows.meanRatio.at(0.5, value -> value)).isCloseTo(ratio[3], within(1e-3));
    assertThat(rows.meanRatio.at(1, value -> value)).isCloseTo(ratio[6], within(1e-6));
    assertThat(rows.nonFiniteElements).isZero();
    assertThat(statistics(x, 0).rms.count()).isEqualTo(1);
  }

  @Test
  void setsZeroRowsAndThoseThatAreNotFiniteAside() throws IOException {
    double[] values = {0, 0, 1, 1, Double.NaN, Double.NaN, Double.NEGATIVE_INFINITY, 1, 3, -4};
    RowStatistics rows = statistics(TestTensor.of("x", Dtype.F32, values, 5, 2), -1);
    assertThat(rows.zeroRows).isEqualTo(1);
    assertThat(rows.nonFiniteRows).isEqualTo(2);
    assertThat(rows.nonFiniteElements).isEqualTo(3);
    assertThat(rows.rms.count()).isEqualTo(2);
    assertThat(rows.meanRatio.at(1, value -> value)).isCloseTo(1, within(1e-15));
    assertThat(rows.rms.at(1, value -> value)).isCloseTo(Math.sqrt(12.5), within(1e-6));
  }

  @ParameterizedTest
  @ValueSource(doubles = {1e-40, 1e-300, 1e38, 1e200, 1e307})
  void measuresRowsFarFromOne(double scale) throws IOException {
    double[] values = {scale, 2 * scale, 3 * scale, 4 * scale};
    boolean single = scale > 1e-50 && scale < 5e37;
    RowStatistics rows =
        statistics(TestTensor.of("x", single ? Dtype.F32 : Dtype.F64, values, 1, 4), -1);
    assertThat(rows.rms.at(0, value -> value) / scale).isCloseTo(Math.sqrt(7.5), within(1e-5));
    assertThat(rows.meanRatio.at(0, value -> value)).isCloseTo(2.5 / Math.sqrt(7.5), within(1e-5));
  }

  /** More rows than a piece holds, and than the statistics are taken of at a time. */
  @Test
  void countsAllRowsOfANarrowTensor() throws IOException {
    int count = 150_001;
    double[] values = new double[2 * count];
    Arrays.setAll(values, i -> 1 + i / 2 / (double) count);
    RowStatistics rows = statistics(TestTensor.of("x", Dtype.F32, values, count, 2), -1);
    assertThat(rows.rms.count()).isEqualTo(count);
    assertThat(rows.rms.at(0.25, value -> value)).isCloseTo(1.25, within(1e-3));
    assertThat(rows.rms.at(0.95, value -> value)).isCloseTo(1.95, within(1e-3));
  }

  /** The gap is what the definitions of the two norms give, measured. */
  @ParameterizedTest
  @ValueSource(doubles = {0, 0.001, 0.1, 1, 30})
  void theGapIsTheDistanceOfTheTwoNorms(double mean) {
    double[] x = TestTensor.random("x", Dtype.F64, mean, 5, 64).values();
    double[] rms = Definitions.rmsNorm(x, null, null, 0);
    double[] layer = Definitions.layerNorm(x, null, null, 0);
    double sum = 0;
    double square = 0;
    double distance = 0;
    for (int i = 0; i < x.length; i++) {
      sum += x[i];
      square += x[i] * x[i];
      distance += (layer[i] - rms[i]) * (layer[i] - rms[i]);
    }
    double rho = sum * sum / x.length / square;
    assertThat(RowStatistics.gap(rho)).isCloseTo(Math.sqrt(distance / x.length), within(1e-12));
  }

  @Test
  void theGapOfATinyRhoDoesNotCancel() {
    assertThat(RowStatistics.gap(1e-20)).isCloseTo(1e-10, within(1e-18));
    assertThat(RowStatistics.gap(0)).isZero();
    assertThat(RowStatistics.gap(1)).isEqualTo(Math.sqrt(2));
  }

  @Test
  void printsATablePerTensor() throws IOException {
    Path path =
        TestTensor.write(
            folder.resolve("x.safetensors"),
            TestTensor.of("a", Dtype.F32, new double[] {3, 3, 1, -1, 3, 4}, 3, 2),
            TestTensor.of("i", Dtype.I64, new double[] {1}, 1));
    CommandResult result = CommandResult.of("stats", path.toString());
    assertThat(result.err()).isEmpty();
    assertThat(result.outLines())
        .containsExactly(
            "a f32 [3, 2]: 3 rows of 2",
            "                    least          5 %       median         95 %     greatest",
            "RMS                 1.000        1.200        3.000        3.482        3.536",
            "length              1.414        1.697        4.243        4.924        5.000",
            "|mean| / RMS        0.000      0.09899       0.9899       0.9990        1.000",
            "rho                 0.000      0.09800       0.9800       0.9980        1.000",
            "gap                 0.000       0.1310        1.310        1.404        1.414",
            "not finite: 0 elements in 0 rows",
            "Would it matter here? Yes: LayerNorm's and RMSNorm's outputs are 131.0 % apart",
            "in the median row, 140.4 % or more in one of twenty.",
            "",
            "i i64 [1]: its elements are neither f64, f32, f16 nor bf16");
  }

  @ParameterizedTest
  @CsvSource({
    "0.0001, 0.001,  Hardly: LayerNorm's",
    "0.0001, 0.1,    For some rows: LayerNorm's",
    "0.1,    0.1,    Yes: LayerNorm's"
  })
  void saysWhetherItMatters(double usual, double rare, String verdict) throws IOException {
    double[] values = new double[40];
    for (int row = 0; row < 20; row++) {
      double mean = row % 10 == 0 ? rare : usual;
      values[2 * row] = mean + 1;
      values[2 * row + 1] = mean - 1;
    }
    Path path =
        TestTensor.write(folder.resolve("x.npy"), TestTensor.of("", Dtype.F64, values, 20, 2));
    assertThat(CommandResult.of("stats", path.toString()).out())
        .contains("Would it matter here? " + verdict);
  }

  @Test
  void saysSoWhereThereIsNothingToTellBy() throws IOException {
    Path path =
        TestTensor.write(
            folder.resolve("x.npy"), TestTensor.of("", Dtype.F32, new double[2], 1, 2));
    assertThat(CommandResult.of("stats", path.toString()).outLines())
        .containsExactly(
            "f32 [1, 2]: 1 row of 2",
            "zero throughout: 1 of 1 rows",
            "not finite: 0 elements in 0 rows",
            "Would it matter here? There is no row to tell by.");
  }

  @Test
  void aParameterIsMeasuredButNotJudged() throws IOException {
    Path path =
        TestTensor.write(
            folder.resolve("g.npy"), TestTensor.of("", Dtype.F32, new double[] {1, 2}, 2));
    assertThat(CommandResult.of("stats", path.toString()).outLines())
        .contains("f32 [2]: 1 row of 2")
        .endsWith("No verdict: one axis, so a parameter rather than rows of data.");
  }

  @Test
  void whatCannotBeMeasuredIsWrongUseIfAskedForAlone() throws IOException {
    Path path =
        TestTensor.write(
            folder.resolve("x.safetensors"),
            TestTensor.of("a", Dtype.F32, new double[2], 1, 2),
            TestTensor.of("i", Dtype.I64, new double[1], 1));
    assertWrongUse(
        "stats", path + ":b", path + ": has no tensor 'b', it has a f32 [1, 2], i i64 [1]");
    assertWrongUse(
        "stats",
        path + ":i",
        path + ": i i64 [1]: its elements are neither f64, f32, f16 nor bf16");
    assertWrongUse(
        "show", path + ":b", path + ": has no tensor 'b', it has a f32 [1, 2], i i64 [1]");
  }

  @Test
  void saysWhatHasNoRowsToMeasure() throws IOException {
    Path path =
        TestTensor.write(
            folder.resolve("x.safetensors"),
            TestTensor.of("s", Dtype.F32, new double[1]),
            TestTensor.of("e", Dtype.F32, new double[0], 4, 0));
    String scalar = "s f32 []: a scalar, which has no rows";
    String empty = "e f32 [4, 0]: its rows have no elements";
    assertThat(CommandResult.of("stats", path.toString()).outLines())
        .containsExactlyInAnyOrder(scalar, "", empty);
    assertThat(CommandResult.of("stats", path + ":s").outLines()).containsExactly(scalar);
    assertThat(CommandResult.of("stats", path + ":e").outLines()).containsExactly(empty);
  }

  @Test
  void aTensorIsChosenByAnOptionAsWell() throws IOException {
    Path path =
        TestTensor.write(
            folder.resolve("x.safetensors"),
            TestTensor.random("a", Dtype.F32, 1, 1, 3, 4),
            TestTensor.random("b", Dtype.F32, 1, 2, 3, 4));
    assertThat(CommandResult.of("stats", path.toString(), "--tensor=b"))
        .isEqualTo(CommandResult.of("stats", path + ":b"));
  }

  private static void assertWrongUse(String command, String reference, String message) {
    CommandResult result = CommandResult.of(command, reference);
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err().lines())
        .singleElement()
        .asString()
        .startsWith("rmsnorm " + command + ": " + message);
  }
}
