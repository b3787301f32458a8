package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;

import java.util.Arrays;

/**
 * The numerics contract written again from its text, one plain step after the other, sharing
 * nothing with the kernels: what they have to equal to the bit.
 *
 * <p>Rows and results are doubles, which hold the values of every type exactly.
 */
final class Contract {
  /**
   * One row's answer.
   *
   * @param rstd as it is kept: of a float32 row in range a float32 number
   * @param outOfRange whether the row leaves the range of its arithmetic
   * @param residual what becomes of it, null without one
   */
  record Result(double[] y, double mean, double rstd, boolean outOfRange, double[] residual) {}

  private Contract() {}

  /** RMSNorm or, centred, LayerNorm of one row whose values are of type in, to type out. */
  static Result row(
      double[] x,
      ElementType in,
      ElementType out,
      boolean centred,
      double epsilon,
      double[] gain,
      double[] bias) {
    return row(
        Variant.plain(centred, x.length, epsilon),
        new Values(in, x),
        null,
        gain == null ? null : new Values(FLOAT64, gain),
        bias == null ? null : new Values(FLOAT64, bias),
        out);
  }

  /** Any norm of one row; residual, gain and bias may be null. */
  static Result row(
      Variant norm, Values x, Values residual, Values gain, Values bias, ElementType out) {
    return row(norm, x, residual, null, gain, bias, out);
  }

  /** Any norm of one row; residual, z, gain and bias may be null. */
  static Result row(
      Variant norm,
      Values x,
      Values residual,
      Values z,
      Values gain,
      Values bias,
      ElementType out) {
    ElementType arithmetic = x.type() == FLOAT64 ? FLOAT64 : FLOAT32;
    double[] h = residual == null ? x.of() : sum(x.of(), residual.of(), arithmetic);
    double[] gate = z == null ? null : ContractGate.forward(norm.gate(), z.of(), arithmetic);
    if (norm.gate() == Gate.SILU_BEFORE) {
      h = ContractGate.product(h, gate, arithmetic);
      gate = null;
    }
    double[] stored = residual == null ? null : rounded(h, residual.type());
    boolean first = residual != null && norm.rounding() == ResidualRounding.FIRST;
    boolean last = residual == null || norm.rounding() == ResidualRounding.LAST;
    double[] measured = Arrays.copyOf(first ? stored : h, norm.part());
    double[] normalised = last ? h : stored;
    ElementType cast = cast(norm.order(), x.type(), gain == null ? null : gain.type());
    double[] g = gain == null ? null : rounded(gain.of(), arithmetic);
    if (g != null && norm.gainOffset() != 0) {
      double[] offset = new double[g.length];
      Arrays.fill(offset, Rounding.to(arithmetic, norm.gainOffset()));
      g = sum(offset, g, arithmetic);
      boolean roundsSum = arithmetic == FLOAT32 && isInType(norm) && cast != null;
      g = roundsSum ? rounded(g, cast) : g;
    }
    double[] b = bias == null ? null : rounded(bias.of(), arithmetic);
    return arithmetic == FLOAT64
        ? float64(norm, measured, normalised, g, b, gate, out, stored)
        : float32(norm, measured, normalised, cast, g, b, gate, out, stored);
  }

  /** Any norm of the groups of one row; gain and bias are of the row, or of a group. */
  static Result[] groups(
      Variant norm,
      Values x,
      Values residual,
      Values z,
      Values gain,
      Values bias,
      ElementType out) {
    Result[] results = new Result[norm.groups()];
    Variant of = norm.ofGroup();
    for (int g = 0; g < results.length; g++) {
      results[g] =
          row(
              of,
              part(x, g, of),
              part(residual, g, of),
              part(z, g, of),
              part(gain, g, of),
              part(bias, g, of),
              out);
    }
    return results;
  }

  private static Values part(Values all, int group, Variant norm) {
    int n = norm.width();
    return all == null || all.of().length == n
        ? all
        : new Values(all.type(), Arrays.copyOfRange(all.of(), group * n, (group + 1) * n));
  }

  /** What the normalised row is rounded to before the gain, if that has 16 bits; null if not. */
  private static ElementType cast(CastOrder order, ElementType x, ElementType gain) {
    ElementType type =
        switch (order) {
          case FLOAT32, DIVIDED, GAIN_FIRST -> null;
          case LLAMA, ONNX, ROUNDED_ROOT, NONE, NONE_DIVIDED -> x;
          case T5 -> gain;
        };
    return type == null || type.bytes() > 2 ? null : type;
  }

  private static Result float32(
      Variant norm,
      double[] measured,
      double[] x,
      ElementType cast,
      double[] gain,
      double[] bias,
      double[] gate,
      ElementType out,
      double[] stored) {
    ElementType each = isInType(norm) ? cast : null;
    Moments moments = Moments.of(measured, norm.centred(), 1.0, each);
    double root = root(norm, moments, 1.0, each);
    boolean divides = divides(norm);
    double rstd = to(divides ? null : each, reciprocal(norm, root));
    boolean gainFirst = norm.order() == CastOrder.GAIN_FIRST && gain != null;
    boolean roundsRoot = norm.order() == CastOrder.ROUNDED_ROOT && cast != null;
    float hi = (float) moments.mean();
    float lo = (float) (moments.mean() - hi);
    boolean wide =
        !isNormal((float) rstd)
            || divides && !isNormal((float) root)
            || norm.centred() && Math.abs(hi) >= 0x1p103f;
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      if (wide) {
        double v = norm.centred() ? x[i] - moments.mean() : x[i];
        double by = roundsRoot ? Rounding.to(cast, rstd) : rstd;
        by = gainFirst ? by * gain[i] : by;
        v = divides ? v / root : v * by;
        v = cast == null ? v : Rounding.to(cast, v);
        v = gain == null || gainFirst ? v : v * gain[i];
        v = each == null ? v : Rounding.to(each, v);
        v = bias == null ? v : v + bias[i];
        v = gate == null ? v : (cast == null ? v : Rounding.to(cast, v)) * gate[i];
        y[i] = out == FLOAT64 ? (float) v : Rounding.to(out, v);
        continue;
      }
      float v = (float) x[i];
      v = norm.centred() ? (v - hi) - lo : v;
      float by = roundsRoot ? (float) Rounding.to(cast, (float) rstd) : (float) rstd;
      by = gainFirst ? by * (float) gain[i] : by;
      v = divides ? v / (float) root : v * by;
      v = cast == null ? v : (float) Rounding.to(cast, v);
      v = gain == null || gainFirst ? v : v * (float) gain[i];
      v = each == null ? v : (float) Rounding.to(each, v);
      v = bias == null ? v : v + (float) bias[i];
      v = gate == null ? v : (cast == null ? v : (float) Rounding.to(cast, v)) * (float) gate[i];
      y[i] = Rounding.to(out, v);
    }
    double mean = norm.spec().isOfLength() ? Math.sqrt(moments.s2()) : moments.mean();
    return new Result(y, mean, wide ? rstd : (float) rstd, wide, stored);
  }

  private static boolean divides(Variant norm) {
    return norm.order() == CastOrder.ONNX
        || norm.order() == CastOrder.DIVIDED
        || norm.order() == CastOrder.NONE_DIVIDED;
  }

  /** Whether every step has the 16-bit type of the row. */
  private static boolean isInType(Variant norm) {
    return norm.order() == CastOrder.NONE || norm.order() == CastOrder.NONE_DIVIDED;
  }

  /** A number of the row, rounded to float32 and then to the type, if there is one. */
  private static double to(ElementType type, double v) {
    return type == null ? v : Rounding.to(type, (float) v);
  }

  private static Result float64(
      Variant norm,
      double[] measured,
      double[] x,
      double[] gain,
      double[] bias,
      double[] gate,
      ElementType out,
      double[] stored) {
    boolean centred = norm.centred();
    boolean length = norm.spec().isOfLength();
    Moments moments = Moments.of(measured, centred, 1.0, null);
    double mean = length ? Math.sqrt(moments.s2()) : moments.mean();
    double root = root(norm, moments, 1.0, null);
    double rstd = reciprocal(norm, root);
    double factor = rstd;
    double[] d = centred ? Moments.minus(x, mean) : x;
    double scale = scale(norm, moments, measured);
    if (scale != 1.0) {
      Moments scaled = Moments.of(measured, centred, scale, null);
      mean = length ? Math.sqrt(scaled.s2()) / scale : scaled.mean();
      root = root(norm, scaled, scale, null);
      factor = reciprocal(norm, root);
      rstd = factor * scale;
      boolean normal = rstd >= Double.MIN_NORMAL && rstd <= Double.MAX_VALUE;
      if (normal && !(centred && scale < 1.0)) {
        d = centred ? Moments.minus(x, mean) : x;
        factor = rstd;
        root = root / scale;
      } else {
        // The factor, or the difference from the mean, is out of range: elements stay scaled.
        d = centred ? scaled.centred() : Moments.scaled(x, scale);
      }
    }
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      boolean gainFirst = norm.order() == CastOrder.GAIN_FIRST && gain != null;
      double v = divides(norm) ? d[i] / root : d[i] * (gainFirst ? factor * gain[i] : factor);
      v = gain == null || gainFirst ? v : v * gain[i];
      v = bias == null ? v : v + bias[i];
      v = gate == null ? v : v * gate[i];
      y[i] = Rounding.to(out, v);
    }
    return new Result(y, mean, rstd, moments.overflowed() || scale != 1.0, stored);
  }

  /** With a floor of 0 a row without length is multiplied by 0. */
  private static double reciprocal(Variant norm, double root) {
    boolean isUnit = norm.spec().isOfLength() && norm.placement() == EpsilonPlacement.FLOOR;
    return root == 0 && isUnit && norm.epsilon() == 0 ? 0 : 1.0 / root;
  }

  /** By what a float64 row is multiplied where its squares leave the range of float64. */
  private static double scale(Variant norm, Moments moments, double[] measured) {
    double tinyEpsilon = norm.placement() == EpsilonPlacement.INSIDE ? 0x1p-840 : 0x1p-380;
    if (moments.overflowed()) {
      return Arrays.stream(measured).allMatch(Double::isFinite) ? 0x1p-600 : 1.0;
    }
    return moments.s2() < 0x1p-900 && norm.epsilon() < tinyEpsilon ? 0x1p600 : 1.0;
  }

  private static double root(Variant norm, Moments moments, double scale, ElementType each) {
    double epsilon = to(each, norm.epsilon()) * scale;
    double m = norm.spec().isOfLength() ? moments.s2() : to(each, moments.variance());
    return switch (norm.placement()) {
      case INSIDE -> to(divides(norm) ? each : null, Math.sqrt(to(each, m + epsilon * scale)));
      case OUTSIDE -> to(each, to(each, Math.sqrt(m)) + epsilon);
      case FLOOR -> Math.max(to(each, Math.sqrt(m)), epsilon);
    };
  }

  private static boolean isNormal(float value) {
    return value >= Float.MIN_NORMAL && value <= Float.MAX_VALUE;
  }

  /** Element by element, rounded to the arithmetic's type once. */
  private static double[] sum(double[] a, double[] b, ElementType arithmetic) {
    double[] sum = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      sum[i] = arithmetic == FLOAT64 ? a[i] + b[i] : (float) a[i] + (float) b[i];
    }
    return sum;
  }

  private static double[] rounded(double[] values, ElementType type) {
    return Arrays.stream(values).map(v -> Rounding.to(type, v)).toArray();
  }
}
