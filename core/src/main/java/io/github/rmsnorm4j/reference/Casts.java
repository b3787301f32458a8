package io.github.rmsnorm4j.reference;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import org.jspecify.annotations.Nullable;

/**
 * The outputs of RMSNorm that round before the gain, each as its source does. Only that rounding
 * depends on a type; everything else is double.
 */
public final class Casts {
  private Casts() {}

  /**
   * {@return the row normalised as {@link CastOrder#LLAMA} does: {@code y_i = (x_i * rstd)T * g_i}
   * with {@code rstd = 1 / root}}
   *
   * @param x the row
   * @param rstd the number by which it is multiplied
   * @param type the type of the row
   * @param gain one factor per element, or null for none
   */
  public static double[] llama(
      double[] x, double rstd, ElementType type, double @Nullable [] gain) {
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      y[i] = round(x[i] * rstd, type) * (gain == null ? 1 : gain[i]);
    }
    return y;
  }

  /**
   * {@return the row normalised as {@link CastOrder#T5} does: {@code y_i = (x_i * rstd)W * g_i} if
   * the gain has 16 bits, otherwise {@code x_i * rstd * g_i}}
   *
   * @param x the row
   * @param rstd the number by which it is multiplied
   * @param weight the type of the gain, or null for none
   * @param gain one factor per element, or null for none
   */
  public static double[] t5(
      double[] x, double rstd, @Nullable ElementType weight, double @Nullable [] gain) {
    return llama(x, rstd, narrowOrExact(weight), gain);
  }

  /**
   * {@return the row normalised as {@link CastOrder#ROUNDED_ROOT} does: {@code y_i = (x_i *
   * (rstd)T)T * g_i}}
   *
   * @param x the row
   * @param rstd the number by which it is multiplied
   * @param type the type of the row
   * @param gain one factor per element, or null for none
   */
  public static double[] roundedRoot(
      double[] x, double rstd, ElementType type, double @Nullable [] gain) {
    ElementType to = narrowOrExact(type);
    return llama(x, round(rstd, to), to, gain);
  }

  /**
   * {@return the row normalised as {@link CastOrder#NONE} does, {@code y_i = ((x_i * (1 / root)T)T
   * * g_i)T}, or as {@link CastOrder#NONE_DIVIDED} does, {@code y_i = ((x_i / (root)T)T * g_i)T}}
   *
   * @param x the row
   * @param root the root, of {@link #rootInType}
   * @param divides whether x is divided by the root
   * @param type the type of the row
   * @param gain one factor per element, of {@link #gainInType}, or null for none
   */
  public static double[] none(
      double[] x, double root, boolean divides, ElementType type, double @Nullable [] gain) {
    ElementType to = narrowOrExact(type);
    double[] y =
        divides ? onnx(x, round(root, to), to, gain) : llama(x, round(1 / root, to), to, gain);
    for (int i = 0; i < y.length; i++) {
      y[i] = round(y[i], to);
    }
    return y;
  }

  /**
   * {@return the root of {@link CastOrder#NONE} before its last rounding: epsilon and every other
   * step are rounded to the type of the row, except the sum of the squares}
   *
   * @param x the row
   * @param k the number of elements of the statistic
   * @param epsilon not negative
   * @param placement the placement of epsilon
   * @param type the type of the row; only 16-bit types round
   */
  public static double rootInType(
      double[] x, int k, double epsilon, EpsilonPlacement placement, ElementType type) {
    ElementType to = narrowOrExact(type);
    double sum = 0;
    for (int i = 0; i < k; i++) {
      sum += round(x[i] * x[i], to);
    }
    double m = round(sum / k, to);
    double eps = round(epsilon, to);
    return switch (placement) {
      case INSIDE -> Math.sqrt(round(m + eps, to));
      case OUTSIDE -> round(round(Math.sqrt(m), to) + eps, to);
      case FLOOR -> Math.max(round(Math.sqrt(m), to), eps);
    };
  }

  /**
   * {@return the gain of {@link CastOrder#NONE} with an offset, {@code (offset + gain_i)T}; as
   * stored without one, and null for null}
   *
   * @param gain one factor per element, or null for none
   * @param offset the number that is added to each element
   * @param type the type of the row; only 16-bit types round
   */
  public static double @Nullable [] gainInType(
      double @Nullable [] gain, double offset, ElementType type) {
    double[] sum = Definitions.offsetGain(gain, offset);
    for (int i = 0; sum != null && offset != 0 && i < sum.length; i++) {
      sum[i] = round(sum[i], narrowOrExact(type));
    }
    return sum;
  }

  /** A 16-bit type, or the one that rounds nothing. */
  private static ElementType narrowOrExact(@Nullable ElementType type) {
    return type != null && type.bytes() == Short.BYTES ? type : ElementType.FLOAT64;
  }

  /**
   * {@return the row normalised as {@link CastOrder#ONNX} does: {@code y_i = (x_i / root)T * g_i}}
   *
   * @param x the row
   * @param root the number by which it is divided
   * @param type the type of the row
   * @param gain one factor per element, or null for none
   */
  public static double[] onnx(double[] x, double root, ElementType type, double @Nullable [] gain) {
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      y[i] = round(x[i] / root, type) * (gain == null ? 1 : gain[i]);
    }
    return y;
  }

  /**
   * {@return the nearest number that a type holds exactly, ties to even; infinity beyond the
   * largest} A type has a number of significant digits, and no digit finer than those of its
   * smallest normal number.
   *
   * @param value any number
   * @param type the type to which it is rounded
   */
  public static double round(double value, ElementType type) {
    return switch (type) {
      case FLOAT64 -> value;
      case FLOAT32 -> round(value, 24, -126, 0x1.fffffep127);
      case FLOAT16 -> round(value, 11, -14, 65504);
      case BFLOAT16 -> round(value, 8, -126, 0x1.fep127);
    };
  }

  private static double round(double value, int digits, int minExponent, double largest) {
    int exponent = Math.max(Math.getExponent(value), minExponent);
    double unit = Math.scalb(1.0, exponent - (digits - 1));
    double rounded = Math.rint(value / unit) * unit;
    return Math.abs(rounded) > largest ? Math.copySign(Double.POSITIVE_INFINITY, value) : rounded;
  }
}
