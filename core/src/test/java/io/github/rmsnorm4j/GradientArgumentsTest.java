package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What a training forward pass and a backward pass refuse, and what they say. */
class GradientArgumentsTest {
  private static final RmsNorm NORM = RmsNorm.builder(4).gain(new float[] {1, 2, 3, 4}).build();

  private final Rows x = Rows.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 4);
  private final Rows y = Rows.of(new float[8], 4);
  private final Rows dy = Rows.of(new float[] {1, 0, 0, 0, 0, 1, 0, 0}, 4);
  private final Rows dx = Rows.of(new float[8], 4);
  private final Saved saved = new Saved(Keep.INPUT, 2);

  private static void refused(ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void backwardNeedsAForwardPassOfTheSameNorm() {
    assertThatThrownBy(() -> NORM.backward(dy, saved, dx, null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("there has been no forward pass");
    NORM.apply(x, y, saved);
    refused(
        () -> RmsNorm.builder(4).build().backward(dy, saved, dx, null),
        "saved is of a forward pass of another norm object, RmsNorm(4, rmsnorm, gain), this is");
    assertThatThrownBy(() -> NORM.backward(null, saved, dx, null)).hasMessage("dy is null");
    assertThatThrownBy(() -> NORM.backward(dy, null, dx, null)).hasMessage("saved is null");
  }

  @Test
  void forwardPassesWithoutRoom() {
    NORM.apply(x, y, saved);
    Rows wrong = Rows.of(new float[4], 4);
    refused(() -> NORM.apply(x, wrong, saved), "y has 1 rows, x has 2");
    Saved small = new Saved(Keep.INPUT, 1);
    refused(() -> NORM.apply(x, y, small), "saved has room for 1 rows, there are 2");
    refused(() -> new Saved(Keep.INPUT, -1), "rows is -1");
  }

  @Test
  void aRefusedForwardPassLeavesWhatWasKept() {
    LayerNorm layer = LayerNorm.builder(4).build();
    layer.apply(x, y, saved);
    Saved output = new Saved(Keep.OUTPUT, 2);
    NORM.apply(x, y, output);
    RmsNorm llama = RmsNorm.llama(4).gain(new float[] {1, 2, 3, 4}).build();
    Rows one = Rows.of(new float[] {1, 0, 1, 1}, 4);
    Rows keptRstd = Rows.of(saved.rstd(), 4 / 2);
    refused(() -> NORM.apply(x, x, saved), "y is x, but the input is to be kept");
    refused(() -> llama.withParameters(one, one).apply(x, y, saved), "cast order is LLAMA");
    refused(() -> NORM.withParameters(one, null).apply(x, y, output), "element 1 of the gain is 0");
    refused(() -> NORM.apply(x, Rows.of(new double[8], 4), output), "y is float64");
    refused(
        () -> RmsNorm.builder(2).build().apply(keptRstd, Rows.of(new float[2], 2), saved),
        "rstd overlaps rows of the call");
    Rows two = Rows.of(new double[2], 2);
    refused(
        () ->
            RmsNorm.builder(2).build().addAndApply(two, keptRstd, Rows.of(new double[2], 2), saved),
        "rstd overlaps rows of the call");
    layer.backward(dy, saved, dx, null);
    NORM.backward(dy, output, dx, null);
  }

  @Test
  void whatIsKeptMustStay() {
    refused(() -> NORM.apply(x, x, saved), "y is x, but the input is to be kept");
    refused(() -> NORM.apply(x, x, new Saved(Keep.NOTHING, 2)), "y is x");
    Saved output = new Saved(Keep.OUTPUT, 2);
    NORM.apply(x, x, output);
    refused(() -> NORM.backward(dy, output, x, null), "dx overlaps what was kept");
    NORM.backward(dy, output, dx, null);
  }

  @Test
  void outputHasNoWayBackThroughAGainOfZeroOrAPart() {
    Saved output = new Saved(Keep.OUTPUT, 2);
    Rows zero = Rows.of(new float[] {1, 0, 1, 1}, 4);
    refused(
        () -> NORM.withParameters(zero, null).apply(x, y, output), "element 1 of the gain is 0");
    RmsNorm shifted = RmsNorm.gemma(4).gain(new float[] {0, 1, -1, 2}).build();
    refused(() -> shifted.apply(x, y, output), "element 2 of the gain is 0");
    RmsNorm partial = RmsNorm.builder(4).part(3).build();
    refused(() -> partial.apply(x, y, output), "part is 3");
  }

  @Test
  void theZeroIsNamedInAGainOfSamplesAndOfFloat64() {
    Saved output = new Saved(Keep.OUTPUT, 2);
    Rows samples = Rows.of(new float[] {1, 1, 1, 1, 2, 2, 0, 2}, 4);
    refused(
        () -> NORM.withParameters(samples, null).apply(x, y, output),
        "element 2 of row 1 of the gain is 0,");
    RmsNorm zeros = RmsNorm.builder(2).gain(new double[] {1, Double.MIN_VALUE}).build();
    Rows wide = Rows.of(new double[] {3, 4, 5, 6}, 2);
    zeros.apply(wide, Rows.of(new double[4], 2), output); // As float32 it would be 0.
    Rows narrow = Rows.of(new float[] {3, 4, 5, 6}, 2);
    refused(
        () -> zeros.apply(narrow, Rows.of(new float[4], 2), output), "element 1 of the gain is 0,");
  }

  @Test
  void aGateOfAForwardPassThatKeeps() {
    RmsNorm gated = RmsNorm.builder(2).gate(Gate.SILU).build();
    LayerNorm layer = LayerNorm.builder(2).gate(Gate.SILU).build();
    Rows rows = Rows.of(new double[] {1, 2, 3, 4}, 2);
    Rows z = Rows.of(new double[] {5, 6, 7, 8}, 2);
    Rows to = Rows.of(new double[4], 2);
    refused(
        () -> gated.applyGated(rows, Rows.of(new double[6], 3), to, saved), "z has rows 3 wide");
    refused(() -> gated.applyGated(rows, Rows.of(new double[2], 2), to, saved), "z has 1 rows");
    layer.applyGated(rows, z, to, saved);
    for (double[] kept : new double[][] {saved.rstd(), saved.mean()}) {
      String name = kept == saved.mean() ? "mean" : "rstd";
      Rows row = Rows.of(kept, 2);
      Rows one = Rows.of(new double[] {1, 2}, 2);
      Rows other = Rows.of(new double[2], 2);
      refused(() -> layer.applyGated(one, row, other, saved), name + " overlaps");
    }
    // An RMSNorm keeps no mean, so it does not write to that array.
    Rows mean = Rows.of(saved.mean(), 2);
    gated.applyGated(Rows.of(new double[] {1, 2}, 2), mean, Rows.of(new double[2], 2), saved);
  }

  @Test
  void gradientsThatOverlapWhatAGatedPassKept() {
    RmsNorm gated = RmsNorm.builder(2).gate(Gate.SILU).build();
    Saved two = new Saved(Keep.INPUT, 2);
    Rows row = Rows.of(new double[] {1, 2}, 2);
    Rows gain = Rows.of(new double[] {3, 4}, 2);
    gated.withParameters(gain, null).applyGated(row, Rows.of(new double[] {5, 6}, 2), y(), two);
    refused(
        () -> gated.backwardGated(y(), two, y(), Rows.of(two.rstd(), 2), null),
        "dz overlaps what was kept");
    refused(() -> gated.backwardGated(y(), two, y(), gain, null), "dz overlaps the gain");
  }

  private static Rows y() {
    return Rows.of(new double[2], 2);
  }

  @Test
  void shapesAndTypes() {
    NORM.apply(x, y, saved);
    refused(() -> NORM.backward(Rows.of(new float[6], 3), saved, dx, null), "dy has rows 3 wide");
    refused(
        () -> NORM.backward(Rows.of(new float[4], 4), saved, dx, null),
        "dy has 1 rows, the forward pass had 2");
    refused(
        () -> NORM.backward(dy, saved, Rows.of(new float[12], 4), null),
        "dx has 3 rows, the forward pass had 2");
    refused(
        () -> NORM.backward(Rows.of(new double[8], 4), saved, dx, null),
        "dy is float64, the forward pass was of float32");
    refused(
        () -> NORM.backward(dy, saved, Rows.of(new float[4], 4), dx, null), "dresidual has 1 rows");
    MemorySegment readOnly = MemorySegment.ofArray(new float[8]).asReadOnly();
    Rows fixed = Rows.of(readOnly, ElementType.FLOAT32, 2, 4);
    refused(() -> NORM.backward(dy, saved, fixed, null), "dx is read-only");
    Rows wide = Rows.of(new double[8], 4);
    refused(
        () -> NORM.backward(dy, saved, wide, null),
        "dx is float64, the forward pass was of float32: both must be float64, or neither");
    refused(
        () -> NORM.backward(dy, saved, wide, dx, null),
        "dresidual is float64, the forward pass was of float32");
    Rows narrow = Rows.of(new float[6], 3);
    refused(() -> NORM.backward(dy, saved, narrow, null), "dx has rows 3 wide");
    refused(() -> NORM.backward(dy, saved, narrow, dx, null), "dresidual has rows 3 wide");
  }

  @Test
  void gradientsOfAGate() {
    RmsNorm gated = RmsNorm.builder(4).gate(Gate.SILU).build();
    Rows z = Rows.of(new float[8], 4);
    gated.applyGated(x, z, y, saved);
    Rows dz = Rows.of(new float[8], 4);
    refused(
        () -> gated.backwardGated(Rows.of(new float[6], 3), saved, dx, dz, null),
        "dy has rows 3 wide, the norm is 4 wide");
    refused(
        () -> gated.backwardGated(dy, saved, Rows.of(new float[6], 3), dz, null),
        "dx has rows 3 wide, the norm is 4 wide");
    refused(
        () -> gated.backwardGated(dy, saved, dx, Rows.of(new float[6], 3), null),
        "dz has rows 3 wide, the norm is 4 wide");
    refused(
        () -> gated.backwardGated(dy, saved, dx, Rows.of(new float[12], 4), null),
        "dz has 3 rows, the forward pass had 2: they must be the same");
    refused(
        () -> gated.backwardGated(dy, saved, dx, Rows.of(new double[8], 4), null),
        "dz is float64, the forward pass was of float32: both must be float64, or neither");
    String overlap = "dx or dz overlaps x or z: it must be other memory";
    refused(() -> gated.backwardGated(dy, saved, dx, x, null), overlap);
    refused(() -> gated.backwardGated(dy, saved, dx, z, null), overlap);
    refused(() -> gated.backwardGated(dy, saved, z, dz, null), overlap);
    float[] memory = new float[12];
    refused(
        () ->
            gated.backwardGated(
                Rows.of(memory, 0, 2, 4), saved, dx, Rows.of(memory, 4, 2, 4), null),
        "rows of dz overlap rows of dy: they must be the same rows, or share no memory");
    assertThat(memory).containsOnly(0);
    assertThat(dx.segment().mismatch(dz.segment())).isEqualTo(-1);
    gated.backwardGated(dy, saved, dx, dz, null);
    assertThat(dx.segment().mismatch(dz.segment())).isNotEqualTo(-1);
  }

  @Test
  void overlaps() {
    NORM.apply(x, y, saved);
    float[] memory = new float[12];
    Rows left = Rows.of(memory, 0, 2, 4);
    Rows right = Rows.of(memory, 4, 2, 4);
    refused(() -> NORM.backward(left, saved, right, null), "rows of dx overlap rows of dy");
    refused(
        () -> NORM.backward(dy, saved, left, right, null), "rows of dx overlap rows of dresidual");
    refused(() -> NORM.backward(dy, saved, x, null), "dx overlaps what was kept");
  }

  @Test
  void whatIsReadOnTheWayIsNotWritten() {
    float[] gain = {1, 2, 3, 4, 5, 6, 7, 8};
    NORM.withParameters(Rows.of(gain, 0, 1, 4), null).apply(x, y, saved);
    refused(
        () -> NORM.backward(dy, saved, Rows.of(gain, 4), null), "dx overlaps the gain or the bias");
    String own = "dgain or dbias overlaps rows of the call: each must be an array of its own";
    float[] gradient = {1, 2, 3, 4};
    Rows parameter = Rows.of(gradient, 4);
    NORM.withParameters(parameter, null).apply(x, y, saved);
    refused(() -> NORM.backward(dy, saved, dx, ParameterGradients.added(gradient, null)), own);
    LayerNorm layer = LayerNorm.builder(4).build();
    layer.withParameters(Rows.of(new float[4], 4), parameter).apply(x, y, saved);
    refused(() -> layer.backward(dy, saved, dx, ParameterGradients.added(gradient, null)), own);
    assertThat(gradient).containsExactly(1, 2, 3, 4);
    float[] one = new float[4];
    Saved single = new Saved(Keep.INPUT, 1);
    Rows row = Rows.of(new float[] {1, 2, 3, 4}, 4);
    NORM.apply(row, Rows.of(new float[4], 4), single);
    refused(
        () -> NORM.backward(row, single, Rows.of(one, 4), ParameterGradients.added(one, null)),
        "dgain or dbias overlaps rows of the call");
  }

  @Test
  void outputOfOtherArithmeticIsNotKept() {
    Saved output = new Saved(Keep.OUTPUT, 2);
    refused(
        () -> NORM.apply(x, Rows.of(new double[8], 4), output),
        "y is float64, the forward pass was of float32");
  }

  @Test
  void meansAreLayerNormsAlone() {
    LayerNorm.builder(4).build().apply(x, y, saved);
    assertThat(saved.mean()).hasSize(2);
    NORM.apply(x, y, saved);
    assertThat(saved.mean()).isNull();
  }

  /** Staged sums are stored by calls that check the owner, so they must stay on its thread. */
  @Test
  void confinedResidualOnManyThreads() {
    int rows = 2048;
    int width = 512;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(4L * rows * width);
      Rows residual = Rows.of(memory, ElementType.FLOAT32, rows, width);
      Rows half = Rows.of(new short[rows * width], ElementType.FLOAT16, width);
      RmsNorm norm = RmsNorm.builder(width).threads(4).build();
      norm.addAndApply(half, residual, Rows.of(new float[rows * width], width));
    }
  }

  @Test
  void parameterGradients() {
    NORM.apply(x, y, saved);
    refused(
        () -> NORM.backward(dy, saved, dx, ParameterGradients.assigned(new float[3], null)),
        "dgain has 3 elements, it must have as many as the other parameters, 4");
    refused(
        () -> NORM.backward(dy, saved, dx, ParameterGradients.added(null, new double[5])),
        "dbias has 5 elements, it must have as many as the other parameters, 4");
    float[] both = new float[4];
    refused(
        () -> NORM.backward(dy, saved, dx, ParameterGradients.added(both, both)),
        "dgain and dbias are one array");
  }

  @Test
  void assignedReplacesAndAddedAdds() {
    NORM.apply(x, y, saved);
    float[] once = {9, 9, 9, 9};
    NORM.backward(dy, saved, dx, ParameterGradients.assigned(once, null));
    double[] twice = new double[4];
    NORM.backward(dy, saved, dx, ParameterGradients.added(twice, null));
    NORM.backward(dy, saved, dx, ParameterGradients.added(twice, null));
    for (int i = 0; i < 4; i++) {
      assertThat(twice[i]).isEqualTo(2.0 * once[i]);
    }
    assertThat(once[0]).isBetween(0.3f, 0.4f);
    float[] again = {1, 1, 1, 1};
    LayerNorm layer = LayerNorm.builder(4).build();
    layer.apply(x, y, saved);
    layer.backward(dy, saved, dx, ParameterGradients.added(null, again));
    // The gradient of the bias is the sum of dy.
    assertThat(again).containsExactly(2, 2, 1, 1);
  }

  @Test
  void dxOverDyIsTheSame() {
    NORM.apply(x, y, saved);
    NORM.backward(dy, saved, dx, null);
    Rows over = Rows.of(new float[] {1, 0, 0, 0, 0, 1, 0, 0}, 4);
    NORM.backward(over, saved, over, null);
    assertThat(over.segment().mismatch(dx.segment())).isEqualTo(-1);
  }

  @Test
  void noRowsGiveNoGradient() {
    Saved none = new Saved(Keep.INPUT, 0);
    Rows empty = Rows.of(new float[0], 4);
    NORM.apply(empty, Rows.of(new float[0], 4), none);
    float[] dgain = {5, 5, 5, 5};
    NORM.backward(empty, none, empty, ParameterGradients.assigned(dgain, null));
    assertThat(dgain).containsOnly(0f);
  }

  @Test
  void closedMemory() {
    Rows gone;
    try (Arena arena = Arena.ofShared()) {
      gone = Rows.of(arena.allocate(32), ElementType.FLOAT32, 2, 4);
      NORM.apply(gone, y, saved);
    }
    assertThatThrownBy(() -> NORM.backward(dy, saved, dx, null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("what was kept is in memory that has been closed");
  }
}
