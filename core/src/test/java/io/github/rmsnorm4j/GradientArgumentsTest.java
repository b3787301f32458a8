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
    assertThatThrownBy(() -> NORM.backward(dy, null, dx, null)).hasMessage("saved is null");
  }

  @Test
  void forwardPassesWithoutRoom() {
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
        "rstd overlaps");
    Rows two = Rows.of(new double[2], 2);
    refused(
        () ->
            RmsNorm.builder(2).build().addAndApply(two, keptRstd, Rows.of(new double[2], 2), saved),
        "rstd overlaps");
    layer.backward(dy, saved, dx, null);
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
  void meansAreLayerNormsAlone() {
    LayerNorm.builder(4).build().apply(x, y, saved);
    assertThat(saved.mean()).hasSize(2);
    NORM.apply(x, y, saved);
    assertThat(saved.mean()).isNull();
  }

  /** An RMSNorm does not write to the array that a LayerNorm before it has kept means in. */
  @Test
  void aMeanOfAnotherNormMayBeRead() {
    LayerNorm.builder(2).build().apply(Rows.of(new float[4], 2), Rows.of(new float[4], 2), saved);
    Rows mean = Rows.of(saved.mean(), 2);
    Rows row = Rows.of(new double[] {1, 2}, 2);
    RmsNorm gated = RmsNorm.builder(2).gate(Gate.SILU).build();
    gated.applyGated(row, mean, Rows.of(new double[2], 2), saved);
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
}
