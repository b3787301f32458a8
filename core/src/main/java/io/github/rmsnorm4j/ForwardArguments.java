package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import org.jspecify.annotations.Nullable;

/**
 * Checks the operands of a forward call, by {@link NormArguments} and by the choices of its norm.
 */
final class ForwardArguments {
  private ForwardArguments() {}

  /**
   * Checks a call that stores its output, except the rows of a gate.
   *
   * @return the output
   */
  static Rows check(ForwardCall of) {
    Norm norm = of.norm;
    Rows x = NormArguments.requireNonNull(of.x, "x");
    Rows y = NormArguments.requireNonNull(of.y, "y");
    NormArguments.check(
        norm.width(),
        norm.groupWidth,
        x,
        of.residual,
        of.gain,
        of.bias,
        y,
        of.mean,
        meanName(norm),
        of.rstd);
    requireParameters(of);
    return y;
  }

  private static String meanName(Norm norm) {
    return norm.spec().isOfLength() ? "length" : "mean";
  }

  private static void requireParameters(ForwardCall of) {
    of.norm.spec().requireFormula(of.bias != null);
    GainAndBias.length(of.norm, of.gain, of.bias);
  }

  /** What gain and bias of the caller have whatever x is; null for the norm's own. */
  static void checkShapes(Norm norm, @Nullable Rows gain, @Nullable Rows bias) {
    NormArguments.checkShape(gain, norm.width(), norm.groupWidth, "gain");
    NormArguments.checkShape(bias, norm.width(), norm.groupWidth, "bias");
    norm.spec().requireFormula(bias != null);
    GainAndBias.length(norm, gain, bias);
  }

  /** The caller's arrays of statistics must have room; null where they are not wanted. */
  static void requireRoom(ForwardCall of) {
    NormArguments.requireRoom(of.mean, of.x.rows(), of.norm.groups, meanName(of.norm));
    NormArguments.requireRoom(of.rstd, of.x.rows(), of.norm.groups, "rstd");
  }

  /** Checks a call with the rows of a gate that stores its output. */
  static void checkGated(ForwardCall of) {
    Norm norm = of.norm;
    Rows z = NormArguments.requireNonNull(of.z, "z");
    NormArguments.checkGate(norm.spec().gate(), norm.width(), of.x, z);
    NormArguments.requireSameOrDisjoint(check(of), z, "y", "z");
  }

  /** A backward pass with a gate needs x and z. */
  static void requireKeptOfGate(ForwardCall of, Keep keep) {
    if (keep == Keep.OUTPUT) {
      throw new IllegalArgumentException(
          "saved keeps the output, with a gate it must keep the input or nothing");
    }
    Rows z = NormArguments.requireNonNull(of.z, "z");
    NormArguments.requireDistinct(z, NormArguments.requireNonNull(of.y, "y"), "z", false);
  }

  /**
   * Checks a call that keeps something for a backward pass.
   *
   * @param name the argument that saved is
   * @param other more rows of the call, checked elsewhere; null without them
   */
  static void checkKept(ForwardCall of, Saved saved, String name, @Nullable Rows other) {
    NormArguments.requireNonNull(saved, name);
    saved.requireRoom(NormArguments.requireNonNull(of.x, "x").rows(), of.norm.groups, name);
    double[] mean = of.norm.spec().isCentred() ? saved.mean() : null;
    check(of.keeping(mean, saved.rstd()));
    if (other != null) {
      NormArguments.requireApart(other, mean, "mean");
      NormArguments.requireApart(other, saved.rstd(), "rstd");
    }
    requireKept(of, saved.keep(), other == null);
    if (saved.keep() == Keep.OUTPUT) {
      requireNoZeros(of);
    }
  }

  /**
   * Refuses to keep what no backward pass can begin from.
   *
   * @param either whether the output may be kept instead of the input
   */
  static void requireKept(ForwardCall of, Keep keep, boolean either) {
    Rows y = NormArguments.requireNonNull(of.y, "y");
    if (keep == Keep.OUTPUT) {
      NormArguments.requireArithmetic(y, of.x, "y");
      requireWholeRow(of.norm);
    } else if (of.residual == null) {
      NormArguments.requireDistinct(of.x, y, "x", either);
    }
  }

  /** The output must determine the normalised row: all of it must be normalised. */
  private static void requireWholeRow(Norm norm) {
    if (norm.part < norm.groupWidth) {
      throw new IllegalArgumentException(
          "part is " + norm.part + ", to go back from the output it must be the width");
    }
  }

  /** The output must determine the normalised row: by a gain that can be divided by. */
  static void requireNoZeros(ForwardCall of) {
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(CallMemory.isOfAnyThread(of.gain), () -> requireNoZeros(of))) {
      return;
    }
    boolean float64 = of.x.type() == ElementType.FLOAT64;
    Staging staging = Staging.take();
    try {
      Object values = GainAndBias.gain(of.norm, of.gain, float64, staging);
      if (values == null) {
        return;
      }
      int n = GainAndBias.length(of.gain, of.norm.gain);
      for (int i = 0; i < n; i++) {
        if (float64 ? isZero(((double[]) values)[i]) : isZero(((float[]) values)[i])) {
          throw zero(i, of);
        }
      }
    } finally {
      staging.giveBack();
    }
  }

  private static IllegalArgumentException zero(int i, ForwardCall of) {
    int width = of.norm.width();
    boolean ofSamples = of.gain != null && of.gain.rows() > 1;
    String row = ofSamples ? " of row " + i / width : "";
    return new IllegalArgumentException(
        ("element " + (ofSamples ? i % width : i) + row + " of the gain is 0,")
            + " to go back from the output none may be: keep the input");
  }

  /** By its bits: where subnormal numbers are taken as zeros, they compare as such. */
  private static boolean isZero(double value) {
    return Double.doubleToRawLongBits(value) << 1 == 0;
  }

  private static boolean isZero(float value) {
    return Float.floatToRawIntBits(value) << 1 == 0;
  }

  /** Checks a call whose output becomes codes. */
  static void checkQuantized(ForwardCall of, QuantizedRows q) {
    Norm norm = of.norm;
    if (of.y != null) {
      if (of.z == null) {
        check(of);
      } else {
        checkGated(of);
      }
    } else {
      if (of.z != null) {
        NormArguments.checkGate(norm.spec().gate(), norm.width(), of.x, of.z);
      }
      NormArguments.checkQuantized(norm.width(), of.x, of.residual);
      NormArguments.checkParameter(of.gain, norm.width(), norm.groupWidth, of.x, null, "gain");
      NormArguments.checkParameter(of.bias, norm.width(), norm.groupWidth, of.x, null, "bias");
      NormArguments.requireApart(of.residual, of.gain, of.bias);
      requireParameters(of);
    }
    QuantizedArguments.check(norm.width(), of.x, of.residual, q);
    QuantizedArguments.requireApart(of.y, q, "y");
    QuantizedArguments.requireApart(of.z, q, "z");
    QuantizedArguments.requireApart(of.gain, q, "gain");
    QuantizedArguments.requireApart(of.bias, q, "bias");
    if (of.z == null) {
      NormArguments.requireNoGate(norm.spec().gate(), of.residual);
    }
  }
}
