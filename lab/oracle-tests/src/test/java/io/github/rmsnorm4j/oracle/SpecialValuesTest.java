package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** NaN, infinity, zero and results beyond the type come out as they do of libtorch. */
class SpecialValuesTest {
  private static final double NAN = Double.NaN;
  private static final double INF = Double.POSITIVE_INFINITY;

  private static final double[][] ROWS = {
    {NAN, 1, 2, 3},
    {1, 2, 3, NAN},
    {INF, 1, -1, 0},
    {1, -INF, 2, 3},
    {INF, -INF, 0, 1},
    {INF, NAN, 0, 1},
    {INF, INF, INF, INF},
    {0, 0, 0, 0},
    {0.0, -0.0, 0.0, -0.0},
    {-0.0, -0.0, -0.0, -0.0},
  };

  @BeforeAll
  static void requireLibtorch() {
    Libtorch.require();
  }

  @ParameterizedTest
  @EnumSource
  void nonFiniteRowsAndRowsOfZeros(ElementType type) {
    for (double[] row : ROWS) {
      for (double epsilon : new double[] {0, 1e-6}) {
        assertSame(new NormCase("special", false, type, 4, epsilon, row, null, null));
        assertSame(new NormCase("special", true, type, 4, epsilon, row, null, null));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void nonFiniteGain(ElementType type) {
    double[] row = {4, -4, 4, -4};
    double[] gain = {INF, INF, NAN, 0};
    assertSame(new NormCase("special", false, type, 4, 0, row, gain, null));
    assertSame(new NormCase("special", true, type, 4, 0, row, gain, null));
  }

  @ParameterizedTest
  @EnumSource
  void resultsBeyondTheTypeAreInfinite(ElementType type) {
    double largest =
        switch (type) {
          case FLOAT64 -> Double.MAX_VALUE;
          case FLOAT32 -> Float.MAX_VALUE;
          case FLOAT16 -> 65504;
          case BFLOAT16 -> 0x1.FEp127;
        };
    // One of these four is 2 after normalising, the others 0.
    double[] row = {8, 0, 0, 0};
    double[] gain = {largest, largest, largest, largest};
    NormCase norm = new NormCase("special", false, type, 4, 0, row, gain, null);
    assertSame(norm);
    assertThat(norm.normalise()[0]).isEqualTo(INF);
  }

  private static void assertSame(NormCase norm) {
    double[] ours = norm.normalise();
    double[] libtorch = Libtorch.norm(norm, norm.type());
    for (int i = 0; i < ours.length; i++) {
      // Of a LayerNorm's zeros neither the formula nor libtorch fixes the sign.
      double expected = norm.centred() ? libtorch[i] + 0.0 : libtorch[i];
      double actual = norm.centred() ? ours[i] + 0.0 : ours[i];
      assertThat(Double.valueOf(actual))
          .as("element %d of %s", i, norm)
          .isEqualTo(Double.valueOf(expected));
    }
  }
}
