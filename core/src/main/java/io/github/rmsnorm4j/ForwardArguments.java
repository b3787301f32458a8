package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import org.jspecify.annotations.Nullable;

/** Checks forward calls: their operands, and what the choices of the norm allow. */
final class ForwardArguments {
  private ForwardArguments() {}

  /** Checks a call whose output is stored, or becomes codes. */
  static void check(ForwardCall of) {
    Norm norm = of.norm;
    Gate gate = norm.spec().gate();
    if (of.z == null) {
      NormArguments.requireNoGate(gate, of.residual);
    } else {
      NormArguments.requireGate(gate);
    }
    if (of.isPlain()) {
      Rows y = NormArguments.requireNonNull(of.y, "y");
      CallOperands.check(norm.width(), of.x, of.residual, y);
    } else {
      if (of.of(CallOperand.Q) == null) {
        NormArguments.requireNonNull(of.y, "y");
      }
      of.check(norm, CallOperand.FORWARD);
      String mean = norm.spec().isOfLength() ? "length" : "mean";
      NormArguments.requireRoom(of.mean, of.x.rows(), norm.groups, mean);
      NormArguments.requireRoom(of.rstd, of.x.rows(), norm.groups, "rstd");
    }
    requireParameters(norm, of.gain, of.bias);
  }

  private static void requireParameters(Norm norm, @Nullable Rows gain, @Nullable Rows bias) {
    norm.spec().requireFormula(bias != null);
    GainAndBias.length(norm, gain, bias);
  }

  /** What gain and bias of the caller have whatever x is; null for the norm's own. */
  static void checkShapes(Norm norm, @Nullable Rows gain, @Nullable Rows bias) {
    NormArguments.checkShape(gain, norm.width(), norm.groupWidth, "gain");
    NormArguments.checkShape(bias, norm.width(), norm.groupWidth, "bias");
    requireParameters(norm, gain, bias);
  }

  /**
   * Checks a call that keeps something for a backward pass.
   *
   * @param name the argument that saved is
   * @param either whether the output may be kept instead of the input
   */
  static void checkKept(ForwardCall of, Saved saved, String name, boolean either) {
    NormArguments.requireNonNull(saved, name);
    saved.requireRoom(NormArguments.requireNonNull(of.x, "x").rows(), of.norm.groups, name);
    check(of);
    requireApart(of.norm, saved, of);
    requireKept(of, saved.keep(), either);
    if (saved.keep() == Keep.OUTPUT) {
      requireNoZeros(of);
    }
  }

  /** The statistics that a norm keeps are not written over an operand of a call. */
  static void requireApart(Norm norm, Saved saved, ForwardCall of) {
    // An RMSNorm keeps no mean, so it leaves that of an earlier call as it is.
    double[] mean = norm.spec().isCentred() ? saved.mean() : null;
    for (int i = 0; i < CallOperand.ROWS.size(); i++) {
      CallOperand other = CallOperand.ROWS.get(i);
      CallOperands.requireApart(CallOperand.MEAN, mean, other, of.of(other));
      CallOperands.requireApart(CallOperand.RSTD, saved.rstd(), other, of.of(other));
    }
  }

  /**
   * Refuses to keep what no backward pass can begin from.
   *
   * @param either whether the output may be kept instead of the input
   */
  static void requireKept(ForwardCall of, Keep keep, boolean either) {
    Rows y = NormArguments.requireNonNull(of.y, "y");
    if (of.z != null) {
      if (keep == Keep.OUTPUT) {
        throw new IllegalArgumentException(
            "saved keeps the output, with a gate it must keep the input or nothing");
      }
      NormArguments.requireDistinct(of.z, y, "z", false);
    }
    if (keep == Keep.OUTPUT) {
      CallOperands.requireArithmetic(CallOperand.Y, y, CallOperand.X, of.x);
      requireWholeRow(of.norm);
    } else if (of.residual == null) {
      NormArguments.requireDistinct(of.x, y, "x", either && of.z == null);
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
}
