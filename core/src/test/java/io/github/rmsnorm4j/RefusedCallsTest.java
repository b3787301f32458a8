package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Calls that are refused for another reason than one bad operand of {@link CallOperandsTest},
 * before anything is written.
 */
class RefusedCallsTest {
  private static final String NO_Z =
      ", this call has no z and needs a norm without a gate: call applyGated";
  private static final String OF_GROUPS =
      " elements, the rows are 4 wide, their groups 2: it must be one row, with as many elements as"
          + " either";
  private static final String NO_ZERO = " to go back from the output none may be: keep the input";

  private final RmsNorm rms = RmsNorm.builder(4).build();
  private final LayerNorm layer = LayerNorm.builder(4).build();
  private final RmsNorm gated = RmsNorm.builder(4).gate(Gate.SILU_BEFORE).build();
  private final RmsNorm ofGroups = RmsNorm.builder(4).groupCount(2).build();
  private final float[] xs = {1, 2, 3, 4, 5, 6, 7, 8};
  private final float[] ys = {1, 1, 1, 1, 1, 1, 1, 1};
  private final Rows x = Rows.of(xs, 4);
  private final Rows y = Rows.of(ys, 4);
  private final double[] sums = {7, 7};
  private final double[] mean = {7, 7};
  private final double[] rstd = {7, 7};
  private final RowStatistics both = RowStatistics.of(mean, rstd);
  private final RowStatistics alone = RowStatistics.of(rstd);
  private final Saved saved = new Saved(Keep.INPUT, 2);
  private final Saved output = new Saved(Keep.OUTPUT, 2);
  private final List<RefusedCall> refused = new ArrayList<>();

  private void add(String message, ThrowingCallable call) {
    refused.add(
        new RefusedCall(
            message,
            () -> {
              float[] before = xs.clone();
              try {
                call.call();
              } finally {
                assertThat(xs).containsExactly(before);
                assertThat(ys).containsOnly(1);
                assertThat(List.of(sums, mean, rstd))
                    .allSatisfy(a -> assertThat(a).containsOnly(7));
              }
            }));
  }

  static List<RefusedCall> refused() {
    RefusedCallsTest all = new RefusedCallsTest();
    all.arrays();
    all.residuals();
    all.arraysOfRows();
    all.parameters();
    all.gates();
    all.kept();
    all.statistics();
    all.numbersOfStatistics();
    return all.refused;
  }

  @ParameterizedTest
  @MethodSource
  void refused(RefusedCall call) {
    call.check();
  }

  private static Rows zeros(int rows, int width) {
    return Rows.of(new float[rows * width], 0, rows, width);
  }

  private void arrays() {
    add("x is null", () -> rms.apply((float[]) null, ys));
    add("y is null", () -> rms.apply(xs, (float[]) null));
    String lengths = "y has 8 elements, x has 4: they must be the same";
    add(lengths, () -> rms.apply(new float[4], ys));
    Norm ofCaller = rms.withParameters(zeros(1, 4), zeros(1, 4));
    add(lengths, () -> ofCaller.apply(new float[4], ys));
    add(
        "6 elements are not a whole number of rows of width 4",
        () -> rms.apply(new float[6], new float[6]));
    add("rows is -1, it must be at least 0", () -> rms.apply(xs, 0, ys, 0, -1));
    String between = ": 1 x 4 must lie between";
    add("xOffset is -1, x has 8 elements" + between, () -> rms.apply(xs, -1, ys, 0, 1));
    add("yOffset is 9, y has 8 elements" + between, () -> rms.apply(xs, 0, ys, 9, 1));
    add("xOffset is 5, x has 8 elements" + between, () -> rms.apply(xs, 5, ys, 0, 1));
    add("y has rows 5 wide, the norm is 4 wide", () -> rms.apply(zeros(0, 4), zeros(0, 5)));
  }

  private void residuals() {
    String notWhole = " elements, they must be whole rows of 4";
    String between = " elements: 1 x 4 must lie between";
    float[] sum = new float[8];
    add("x has 7" + notWhole, () -> rms.addAndApply(new float[7], sum, ys));
    add("residual has 9" + notWhole, () -> rms.addAndApply(xs, new float[9], ys));
    add(
        "residual has 1 rows, x has 2: they must be the same",
        () -> rms.addAndApply(xs, new float[4], ys));
    add(
        "y has 3 rows, x has 2: they must be the same",
        () -> rms.addAndApply(xs, sum, new float[12]));
    add("residual overlaps x: each must be memory of its own", () -> rms.addAndApply(xs, xs, ys));
    add("x is null", () -> rms.addAndApply(null, sum, ys));
    add("residual is null", () -> rms.addAndApply(xs, null, ys));
    add("y is null", () -> rms.addAndApply(xs, sum, null));
    add("saved is null", () -> rms.apply(x, y, (Saved) null));
    add("xOffset is 5, x has 8" + between, () -> rms.addAndApply(xs, 5, sum, 0, ys, 0, 1));
    add(
        "residualOffset is -1, residual has 8" + between,
        () -> rms.addAndApply(xs, 0, sum, -1, ys, 0, 1));
    add("yOffset is 6, y has 8" + between, () -> rms.addAndApply(xs, 0, sum, 0, ys, 6, 1));
    add("gainOffset is 5, gain has 8" + between, () -> rms.apply(xs, 0, sum, 5, ys, 0, 1));
  }

  private void arraysOfRows() {
    float[] one = {1, 1, 1, 1};
    float[] two = {2, 2, 2, 2};
    float[][] both = {one, two};
    add("y has 3 rows, x has 2: they must be the same", () -> rms.apply(both, new float[3][4]));
    add(
        "y[1] has 5 elements, the norm is 4 wide",
        () -> rms.apply(both, new float[][] {one, new float[5]}));
    add(
        "x[0] has 3 elements, the norm is 4 wide",
        () -> rms.apply(new float[1][3], new float[1][4]));
    String own = ": it must be an array of its own, or x";
    add("y[1] is x[0]" + own + "[1]", () -> rms.apply(both, new float[][] {two, one}));
    add("y[0] is y[1]" + own + "[0]", () -> rms.apply(new float[2][4], new float[][] {one, one}));
    add("x is null", () -> rms.apply((float[][]) null, both));
    add("y is null", () -> rms.apply(both, (float[][]) null));
    add("y[1] is null", () -> rms.apply(both, new float[][] {one, null}));
    add("x[0] is null", () -> rms.apply(new float[2][], both));
    add("gate is silu before" + NO_Z, () -> gated.apply(new float[0][], new float[0][]));
  }

  private void parameters() {
    for (int n : new int[] {3, 5}) {
      String message = "gain has 1 x " + n + " elements, the rows are 4 wide";
      add(message, () -> rms.withParameters(zeros(1, n), null));
      add(message, () -> rms.withParameters(Rows.of(new double[n], n), null));
    }
    add(
        "gain has 0 x 4 elements, the rows are 4 wide",
        () -> rms.withParameters(zeros(0, 4), null));
    add(
        "bias has 1 x 3 elements, the rows are 4 wide",
        () -> rms.withParameters(zeros(1, 4), zeros(1, 3)));
    add(
        "bias has 12 elements, gain has 8: they must be the same",
        () -> rms.withParameters(zeros(2, 4), zeros(3, 4)));
    RmsNorm biased = RmsNorm.builder(4).bias(new float[4]).build();
    add(
        "the norm's own bias has 4 elements, gain has 8: they must be the same, pass a bias, too",
        () -> biased.withParameters(zeros(2, 4), null));
    add("gain has 1 x 3" + OF_GROUPS, () -> ofGroups.withParameters(zeros(1, 3), null));
    add(
        "gain has 2 rows, for a norm of groups it must have 1",
        () -> ofGroups.withParameters(zeros(2, 4), null));
    add(
        "bias has 4 elements, gain has 2: they must be the same",
        () -> ofGroups.withParameters(zeros(1, 2), zeros(1, 4)));
  }

  private void gates() {
    String ofNone = "gate is none, for a call with z it must be silu, sigmoid or silu before";
    String noZ = "gate is silu before" + NO_Z;
    String residual = "gate is silu before, a call with a residual needs a norm without a gate";
    Rows z = zeros(2, 4);
    QuantizedRows q = QuantizedRows.of(new byte[8], new float[2], QuantizedType.int8PerRow(), 4);
    add(noZ, () -> gated.apply(xs, ys));
    add(noZ, () -> gated.apply(x, y, saved));
    add(noZ, () -> gated.withParameters(zeros(1, 4), null).apply(xs, ys));
    add(residual, () -> gated.addAndApply(xs, new float[8], ys));
    add(ofNone, () -> rms.applyGated(x, z, y));
    for (Rows stored : new Rows[] {null, y}) {
      add(noZ, () -> gated.apply(x, stored, q));
      add(residual, () -> gated.addAndApply(x, z, stored, q));
      add(ofNone, () -> rms.applyGated(x, z, stored, q));
    }
    add(
        "saved keeps the output, with a gate it must keep the input or nothing",
        () -> gated.applyGated(x, z, y, output));
    Saved ofGate = new Saved(Keep.INPUT, 2);
    gated.applyGated(x, z, zeros(2, 4), ofGate);
    add(
        "gate is silu before, this call has no z and needs a norm without a gate: call"
            + " backwardGated",
        () -> gated.backward(x, ofGate, y, null));
    add(ofNone, () -> rms.backwardGated(x, ofGate, y, z, null));
    Norm silu = RmsNorm.builder(4).gate(Gate.SILU).build();
    String ofSums = "gate is silu, sums and statistics need a norm without a gate";
    add(ofSums, () -> silu.statistics(x, alone));
    add(ofSums, () -> silu.sums(x, sums));
    add(ofSums, () -> silu.statistics(sums, 4, alone));
    add(ofSums, () -> silu.apply(x, alone, y));
  }

  private void kept() {
    add("saved is null", () -> rms.backward(x, null, y, null));
    add(
        "saved is empty: there has been no forward pass with it",
        () -> rms.backward(x, saved, y, null));
    Saved ofOther = new Saved(Keep.INPUT, 2);
    layer.apply(x, zeros(2, 4), ofOther);
    add(
        "saved is of a forward pass of another norm object, LayerNorm(4, layernorm), this is"
            + " RmsNorm(4, rmsnorm)",
        () -> rms.backward(x, ofOther, y, null));
    add("saved has room for 1 rows, there are 2", () -> rms.apply(x, y, new Saved(Keep.INPUT, 1)));
    add("rows is -1, it must not be negative", () -> new Saved(Keep.INPUT, -1));
    add(
        "saved has room for 1073741824 rows, with 2 groups each it must be at most 1073741819",
        () -> ofGroups.apply(x, y, new Saved(Keep.INPUT, 1 << 30)));
    Rows zero = Rows.of(new float[] {1, 0, 1, 1}, 4);
    String first = "element 1 of the gain is 0,";
    add(first + NO_ZERO, () -> rms.withParameters(zero, null).apply(x, y, output));
    RmsNorm shifted = RmsNorm.gemma(4).gain(new float[] {0, 1, -1, 2}).build();
    add("element 2 of the gain is 0," + NO_ZERO, () -> shifted.apply(x, y, output));
    Rows samples = Rows.of(new float[] {1, 1, 1, 1, 2, 2, 0, 2}, 4);
    add(
        "element 2 of row 1 of the gain is 0," + NO_ZERO,
        () -> rms.withParameters(samples, null).apply(x, y, output));
    RmsNorm tiny = RmsNorm.builder(4).gain(new double[] {1, Double.MIN_VALUE, 1, 1}).build();
    add(first + NO_ZERO, () -> tiny.apply(x, y, output));
    add(
        "part is 3, to go back from the output it must be the width",
        () -> RmsNorm.builder(4).part(3).build().apply(x, y, output));
  }

  private void statistics() {
    Norm partial = RmsNorm.builder(4).partial(0.5).build();
    String part = "part is 1/2, of a norm with sums of columns it must be 1";
    add(part, () -> partial.sums(x, sums));
    add(part, () -> partial.statistics(sums, 4, alone));
    Norm ofType = NormSpec.parse("rmsnorm(eps=type)").builder(4).build();
    add(
        "epsilon is that of the type of the rows, of a norm with sums it must be a number",
        () -> ofType.statistics(sums, 4, alone));
    add(
        "columns is 3, of RmsNorm(4, rmsnorm) it must be at least 4, the elements that it sums",
        () -> rms.statistics(sums, 3, alone));
    String noMean = " has a mean, of RmsNorm(4, rmsnorm) it must have rstd alone";
    add("into" + noMean, () -> rms.statistics(x, both));
    add("into" + noMean, () -> rms.statistics(sums, 4, both));
    add("given" + noMean, () -> rms.apply(x, both, y));
    String noRstd = " has no mean, of LayerNorm(4, layernorm) it must have mean and rstd";
    add("into" + noRstd, () -> layer.statistics(x, alone));
    add("into" + noRstd, () -> layer.statistics(sums, 4, alone));
    add("given" + noRstd, () -> layer.apply(x, alone, y));
    add("into is null", () -> rms.statistics(x, null));
    add("into is null", () -> rms.statistics(sums, 4, null));
    add("given is null", () -> rms.apply(x, (RowStatistics) null, y));
  }

  private void numbersOfStatistics() {
    double[] numbers = new double[1];
    add("rstd is null", () -> RowStatistics.of(null));
    add("mean is null", () -> RowStatistics.of(null, numbers));
    add("rstd is null", () -> RowStatistics.of(numbers, null));
    String count = "sums has 4 elements, it must have 2: 1 for each of 2 rows";
    add(count, () -> rms.sums(x, new double[4]));
    add(
        "sums has 5 elements, it must have 2 for each row",
        () -> layer.statistics(new double[5], 4, RowStatistics.of(new double[5], new double[5])));
    add("rstd has room for 2 groups, there are 4", () -> ofGroups.apply(x, y, new double[2]));
    double[] memory = new double[4];
    Rows row = Rows.of(memory, 4);
    Rows other = Rows.of(new double[4], 4);
    String own = ": each must be memory of its own";
    L2Norm length = Norm.l2(4).build();
    add("length overlaps y" + own, () -> length.apply(other, row, memory));
    add(
        "dgain has 4 elements, it must have as many as the other parameters, 2",
        () -> {
          Norm norm = ofGroups.withParameters(zeros(1, 2), null);
          Saved ofTwo = new Saved(Keep.INPUT, 2);
          norm.apply(x, zeros(2, 4), ofTwo);
          norm.backward(x, ofTwo, y, ParameterGradients.assigned(new float[4], null));
        });
  }

  /** An input may be read twice, and arrays may have parts for several operands. */
  @Test
  void arraysMayBeShared() {
    float[] one = new float[4];
    rms.apply(new float[][] {one, one}, new float[2][4]);
    rms.addAndApply(xs, 0, xs, 4, one, 0, 1);
    rms.apply(one, 0, xs, 0, xs, 4, 1);
  }

  @Test
  void noRowsAreNoWork() {
    for (Norm norm : List.of(rms, layer)) {
      norm.apply(new float[0], new float[0]);
      norm.apply(Rows.of(new double[0], 4), Rows.of(new double[0], 4));
      norm.addAndApply(zeros(0, 4), zeros(0, 4), zeros(0, 4));
      norm.apply(ys, 8, ys, 8, 0);
      norm.apply(new float[0][], new float[0][]);
    }
    rms.apply(zeros(0, 4), zeros(0, 4), new double[0]);
    layer.apply(zeros(0, 4), zeros(0, 4), new double[0], new double[0]);
    assertThat(ys).containsOnly(1);
  }
}
