package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What an object keeps of calls of several norms, and of calls that are refused. */
class SavedTest {
  private static final String OWN = ": each must be memory of its own";

  private final Saved saved = new Saved(Keep.INPUT, 2);
  private final Saved output = new Saved(Keep.OUTPUT, 2);

  private static Rows rows(int rows, int width) {
    float[] numbers = new float[rows * width];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = 1 + i * i;
    }
    return Rows.of(numbers, width);
  }

  @Test
  void aRefusedForwardPassLeavesWhatWasKept() {
    Rows x = rows(2, 4);
    Rows y = rows(2, 4);
    LayerNorm layer = LayerNorm.builder(4).build();
    layer.apply(x, y, saved);
    RmsNorm norm = RmsNorm.builder(4).gain(new float[] {1, 2, 3, 4}).build();
    norm.apply(x, y, output);
    Rows zero = Rows.of(new float[] {1, 0, 1, 1}, 4);
    Rows kept = Rows.of(saved.rstd(), 2);
    Rows two = Rows.of(new double[2], 2);
    RmsNorm ofTwo = RmsNorm.builder(2).build();
    List.of(
            new RefusedCall(
                "y is x, but the input is to be kept: keep the output, or write elsewhere",
                () -> norm.apply(x, x, saved)),
            new RefusedCall(
                "element 1 of the gain is 0, to go back from the output none may be: keep the"
                    + " input",
                () -> norm.withParameters(zero, null).apply(x, y, output)),
            new RefusedCall(
                "y is float64, x is float32: both must be float64, or neither",
                () -> norm.apply(x, Rows.of(new double[8], 4), output)),
            new RefusedCall(
                "rstd overlaps x" + OWN, () -> ofTwo.apply(kept, Rows.of(new float[2], 2), saved)),
            new RefusedCall(
                "rstd overlaps residual" + OWN,
                () -> ofTwo.addAndApply(two, kept, Rows.of(new double[2], 2), saved)))
        .forEach(RefusedCall::check);
    layer.backward(x, saved, rows(2, 4), null);
    norm.backward(x, output, rows(2, 4), null);
  }

  /** An RMSNorm does not write to the array that a LayerNorm before it has kept means in. */
  @Test
  void aMeanOfAnotherNormMayBeRead() {
    LayerNorm.builder(2).build().apply(rows(2, 2), rows(2, 2), saved);
    assertThat(saved.mean()).hasSize(2);
    Rows mean = Rows.of(saved.mean(), 2);
    RmsNorm norm = RmsNorm.builder(2).gate(Gate.SILU).build();
    norm.applyGated(Rows.of(new double[2], 2), mean, Rows.of(new double[2], 2), saved);
    assertThat(saved.mean()).isNull();
  }

  /** As float32 the gain would be 0. */
  @Test
  void aGainThatIsNotZeroInFloat64() {
    RmsNorm norm = RmsNorm.builder(2).gain(new double[] {1, Double.MIN_VALUE}).build();
    norm.apply(Rows.of(new double[] {3, 4, 5, 6}, 2), Rows.of(new double[4], 2), output);
    assertThat(output.rstd()).hasSize(2);
  }

  /** With more groups and with fewer, one norm after the other. */
  @Test
  void servesSeveralNorms() {
    for (int count : new int[] {1, 3, 12, 2}) {
      Rows y = rows(2, 12);
      LayerNorm.builder(12).groupCount(count).build().apply(rows(2, 12), y, saved);
      int width = 12 / count;
      Saved wanted = new Saved(Keep.INPUT, 2 * count);
      Rows expected = rows(2 * count, width);
      LayerNorm.builder(width).build().apply(rows(2 * count, width), expected, wanted);
      assertThat(y.segment().mismatch(expected.segment())).isEqualTo(-1);
      assertThat(saved.rstd()).startsWith(wanted.rstd());
      assertThat(saved.mean()).startsWith(wanted.mean());
    }
  }
}
