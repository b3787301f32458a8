package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.Rows;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/**
 * What the params say of the norm. It is sent to the executors.
 *
 * @param norm the text of a {@link NormSpec}, which itself is not serialisable
 * @param width of every row; null if each row has its own
 * @param gain null for none
 * @param gainType the type in which the gain is stored; null for float64
 * @param bias null for none
 */
record NormSettings(String norm, Integer width, double[] gain, ElementType gainType, double[] bias)
    implements Serializable {
  NormSettings {
    // Equal norms make equal plans.
    norm = spec(norm).toString();
    // A plan may be run long after, when the caller has other numbers in the arrays.
    gain = gain == null ? null : gain.clone();
    bias = bias == null ? null : bias.clone();
    if (gainType != null && gain == null) {
      throw new IllegalArgumentException("gainType is %s, it needs gain".formatted(gainType));
    }
    double[] parameter = gain != null ? gain : bias;
    width = width == null && parameter != null ? (Integer) parameter.length : width;
  }

  /** A norm of one column; others are refused in the words of {@link NormSpec}. */
  static NormSpec spec(String text) {
    NormSpec spec = NormSpec.parse(text);
    if (spec.gate() != Gate.NONE) {
      throw new IllegalArgumentException(
          "norm is '%s', it must have no gate: a column has no second row".formatted(spec));
    }
    return spec;
  }

  /**
   * Builds the norm once if the width is known, so that the library refuses it before a job starts.
   *
   * @throws IllegalArgumentException if there is no such norm
   */
  NormSettings checked() {
    if (width != null) {
      norm(width);
    }
    return this;
  }

  /**
   * Makes the norm for rows of a width. It does not start threads: Spark has its own.
   *
   * @throws IllegalArgumentException if rows of that width cannot be normalised
   */
  Norm norm(int width) {
    NormBuilder<?> builder = NormSpec.parse(norm).builder(width).threads(1);
    if (gain != null) {
      builder.gain(storedGain(gain, gainType == null ? ElementType.FLOAT64 : gainType));
    }
    if (bias != null) {
      builder.bias(bias);
    }
    return builder.build();
  }

  /**
   * A gain as a model stores it.
   *
   * @throws IllegalArgumentException if the type lacks one of the numbers
   */
  static Rows storedGain(double[] gain, ElementType type) {
    byte[] bytes = new byte[Math.multiplyExact(gain.length, type.bytes())];
    MemorySegment stored = MemorySegment.ofArray(bytes);
    for (int i = 0; i < gain.length; i++) {
      type.set(stored, i, gain[i]);
      if (Double.compare(type.get(stored, i), gain[i]) != 0) {
        throw new IllegalArgumentException(
            "gain[%s] is %s, no number of gainType %s".formatted(i, gain[i], type));
      }
    }
    return Rows.of(stored, type, 1, gain.length);
  }

  /** Equal settings make equal plans, of which Spark knows that their results are the same. */
  @Override
  public boolean equals(Object other) {
    return other instanceof NormSettings settings
        && norm.equals(settings.norm)
        && Objects.equals(width, settings.width)
        && gainType == settings.gainType
        && Arrays.equals(gain, settings.gain)
        && Arrays.equals(bias, settings.bias);
  }

  @Override
  public int hashCode() {
    return Objects.hash(norm, width, gainType, Arrays.hashCode(gain), Arrays.hashCode(bias));
  }

  /** For a plan that somebody reads, so without the values of gain and bias. */
  @Override
  public String toString() {
    return norm
        + (width == null ? "" : " of " + width)
        + (gain == null ? "" : ", gain")
        + (bias == null ? "" : ", bias");
  }
}
