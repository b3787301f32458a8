package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of the greatest and the smallest numbers there are, with answers that one sees. */
class EndOfRangeTest {
  private static double[] float64(Norm norm, double... x) {
    double[] y = new double[x.length];
    norm.apply(Rows.of(x, norm.width()), Rows.of(y, norm.width()));
    return y;
  }

  /** Sums of squares, sums, and the distance of two elements are all out of float64's range. */
  @Test
  void greatestNumbers() {
    RmsNorm rms = RmsNorm.builder(4).epsilon(0).build();
    LayerNorm layer = LayerNorm.builder(4).epsilon(0).build();
    double max = Double.MAX_VALUE;
    assertThat(float64(rms, max, -max, max, max)).containsExactly(1, -1, 1, 1);
    assertThat(float64(layer, max, -max, max, -max))
        .containsExactly(new double[] {1, -1, 1, -1}, within(1e-15));
    float[] x = {Float.MAX_VALUE, -Float.MAX_VALUE, Float.MAX_VALUE, -Float.MAX_VALUE};
    float[] y = new float[4];
    rms.apply(x, y);
    assertThat(y).containsExactly(1, -1, 1, -1);
    layer.apply(x, y);
    assertThat(y).containsExactly(1, -1, 1, -1);
  }

  @Test
  void smallestNumbers() {
    RmsNorm rms = RmsNorm.builder(2).epsilon(0).build();
    LayerNorm layer = LayerNorm.builder(2).epsilon(0).build();
    double min = Double.MIN_VALUE;
    assertThat(float64(rms, min, -min)).containsExactly(1, -1);
    assertThat(float64(layer, min, 0)).containsExactly(1, -1); // Their mean is no float64.
    float[] y = new float[2];
    rms.apply(new float[] {Float.MIN_VALUE, -Float.MIN_VALUE}, y);
    assertThat(y).containsExactly(1, -1);
    layer.apply(new float[] {Float.MIN_VALUE, 0}, y);
    assertThat(y).containsExactly(1, -1);
  }

  /** One among zeros: its result is the root of n - 1, whatever its size. */
  @ParameterizedTest
  @ValueSource(ints = {2, 100, 4096, 1 << 20, (1 << 20) + 1})
  void oneAmongZeros(int width) {
    LayerNorm norm = LayerNorm.builder(width).epsilon(0).build();
    double root = Math.sqrt(width - 1);
    for (float size : new float[] {1, Float.MAX_VALUE, Float.MIN_VALUE}) {
      float[] x = new float[width];
      x[0] = size;
      norm.apply(x, x);
      assertThat(x[0]).isCloseTo((float) root, within((float) (3e-7 * root)));
      assertThat(x[width - 1]).isCloseTo((float) (-1 / root), within((float) (3e-7 / root)));
    }
  }
}
