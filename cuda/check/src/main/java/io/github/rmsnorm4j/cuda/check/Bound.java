package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.ElementType;
import java.util.Arrays;

/**
 * How far an element of a row of float32 arithmetic, without a bias, may be from the exact one:
 * "The bound" in docs/numerics.md.
 */
final class Bound {
  private static final double LEAST = 0x1p-149;
  private static final double RMS_ROUNDINGS = 3.01;
  private static final double LAYER_ROUNDINGS = 5.01;
  private static final double LONG_LAYER_ROUNDINGS = 5.35;

  private final double roundings;
  private final double ofMean;

  /**
   * The bound of a row.
   *
   * @param centred whether it is a LayerNorm
   * @param x the row
   * @param rstd the exact one
   */
  Bound(boolean centred, double[] x, double rstd) {
    int n = x.length;
    boolean isLong = n > 1 << 15 && n <= 1 << 20;
    roundings = !centred ? RMS_ROUNDINGS : isLong ? LONG_LAYER_ROUNDINGS : LAYER_ROUNDINGS;
    double largest = Arrays.stream(x).map(Math::abs).max().orElseThrow();
    double e = n <= 1024 ? 0x1p-46 : (235 + n / 32768.0) * ElementType.FLOAT64.unitRoundoff();
    ofMean = centred ? (e * largest + LEAST / 2) * rstd : 0;
  }

  double allowed(double exact, double gain, ElementType type) {
    double g = Math.abs(gain);
    double float32 =
        roundings * ElementType.FLOAT32.unitRoundoff() * Math.abs(exact)
            + LEAST * (1 + g)
            + ofMean * g;
    return type.bytes() == Float.BYTES
        ? float32
        : float32 + ulp(type, Math.abs(exact) + float32) / 2;
  }

  /** The distance between neighbours of a type at a value. */
  static double ulp(ElementType type, double value) {
    double magnitude = Math.max(Math.abs(value), type.minNormal());
    return 2 * type.unitRoundoff() * Math.scalb(1.0, Math.getExponent(magnitude));
  }
}
