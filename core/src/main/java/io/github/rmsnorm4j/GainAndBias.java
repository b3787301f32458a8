package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.NormColumns;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Gain and bias of a norm's calls: the caller's or, where these are null, the norm's own. */
final class GainAndBias {
  private GainAndBias() {}

  /**
   * The elements of gain and bias: of a row, of a group if all groups share them, or of the rows of
   * all samples; 0 if there are none.
   */
  static int length(Norm norm, @Nullable Rows gain, @Nullable Rows bias) {
    int ofGain = length(gain, norm.gain);
    int ofBias = length(bias, norm.bias);
    boolean isHeld = bias == null && gain != null;
    if (ofGain > 0 && ofBias > 0 && ofGain != ofBias) {
      NormArguments.requireSameParameters(ofGain, ofBias, isHeld);
    }
    return Math.max(ofGain, ofBias);
  }

  static int length(@Nullable Rows given, @Nullable Parameter own) {
    return given != null ? elements(given) : own == null ? 0 : own.length();
  }

  private static int elements(Rows parameter) {
    return (int) parameter.rows() * parameter.width();
  }

  /**
   * The gain with its offset, float[] or double[].
   *
   * @param staging what gain and bias of the caller may be copied to; null only without both
   */
  static @Nullable Object gain(
      Norm norm, @Nullable Rows given, boolean float64, @Nullable Staging staging) {
    if (given == null) {
      return norm.gain == null ? null : norm.gain.values(float64);
    }
    Staging into = NormArguments.requireNonNull(staging, "staging");
    Object values = Parameter.values(given, float64, into);
    double offset = norm.spec().gainOffset();
    return offset == 0 ? values : Parameter.plus(values, offset, elements(given), into);
  }

  /** The type in which the gain was given. */
  static @Nullable ElementType gainType(Norm norm, @Nullable Rows given) {
    return given != null ? given.type() : norm.gain == null ? null : norm.gain.type();
  }

  /** The bias, as {@link #gain} gives the gain. */
  static @Nullable Object bias(
      Norm norm, @Nullable Rows given, boolean float64, @Nullable Staging staging) {
    if (given != null) {
      Staging into = NormArguments.requireNonNull(staging, "staging").other();
      return Parameter.values(given, float64, into);
    }
    return norm.bias == null ? null : norm.bias.values(float64);
  }

  /** Gain and bias of groups or of samples as rows that go with those of x. */
  static void rows(
      Norm norm,
      Rows x,
      int parts,
      @Nullable Object gain,
      @Nullable Object bias,
      @Nullable NormColumns ofNorm,
      @Nullable RowMemory[] into) {
    into[Forward.GAIN_OF_GROUPS.place()] = rows(norm, x, parts, Forward.GAIN, gain, ofNorm);
    into[Forward.BIAS_OF_GROUPS.place()] = rows(norm, x, parts, Forward.BIAS, bias, ofNorm);
  }

  private static @Nullable RowMemory rows(
      Norm norm,
      Rows x,
      int parts,
      Tensor column,
      @Nullable Object values,
      @Nullable NormColumns ofNorm) {
    if (values == null) {
      return null;
    }
    CallMemory memory = norm.backEndParts().memory;
    // If rows are in native memory, an array would make each call of machine code a critical one.
    MemorySegment there =
        ofNorm != null && memory.of(x, norm.groups).access() == RowMemory.Access.NATIVE
            ? ofNorm.of(column, values, norm.width())
            : null;
    return CallMemory.ofParameter(values, there, norm.groupWidth, parts, x.rows(), norm.groups > 1);
  }
}
