package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What the params say of the norm, sent to where the rows are. What is null is left to the preset,
 * and without one to the library.
 *
 * @param centred LayerNorm, not RMSNorm
 * @param width of every row; without one each row has its own
 * @param gainType what the gain is stored in, which only the cast order of T5 asks for
 * @param partial the part of a row that the mean square is of
 * @param partRounded how that part becomes whole elements, {@code up} or {@code down}
 */
record NormSettings(
    boolean centred,
    Preset preset,
    CastOrder castOrder,
    Integer width,
    double[] gain,
    ElementType gainType,
    Double gainOffset,
    double[] bias,
    Double epsilon,
    EpsilonPlacement placement,
    Double partial,
    String partRounded)
    implements Serializable {
  /**
   * Checks what the params are together; each by itself was checked when it was set.
   *
   * @throws IllegalArgumentException if they make no sense
   */
  NormSettings {
    // A plan may be run long after, when the caller has other numbers in the arrays.
    gain = gain == null ? null : gain.clone();
    bias = bias == null ? null : bias.clone();
    width = width != null ? width : gain != null ? (Integer) gain.length : lengthOf(bias);
    requireLength("gain", gain, width);
    requireLength("bias", bias, width);
    require(
        partRounded == null || partial != null, "partialRounding", partRounded, "it needs partial");
    require(
        !"down".equals(partRounded) || width == null || (int) (width * partial) > 0,
        "partial",
        partial,
        "rounded down it must leave at least one of the %s elements of a row".formatted(width));
    require(
        gainOffset == null || gain != null,
        "gainOffset",
        gainOffset,
        "it needs gain, which it is added to");
    require(gainType == null || gain != null, "gainType", gainType, "it needs gain");
    requireOrder(preset, castOrder, gain != null, gainOffset, bias != null);
    if (gainType != null) {
      StoredGain.of(gain, gainType);
    }
  }

  private static void requireOrder(
      Preset preset, CastOrder castOrder, boolean gain, Double gainOffset, boolean bias) {
    CastOrder order = order(preset, castOrder);
    require(
        order != CastOrder.T5 || gainOffset == null || gainOffset == 0,
        "gainOffset",
        gainOffset,
        "with %s t5 it must be 0".formatted(castOrder == null ? "preset" : "castOrder"));
    // Gemma's own offset, which nobody may have thought of.
    require(
        order != CastOrder.T5 || preset != Preset.gemma || gainOffset != null || !gain,
        "castOrder",
        castOrder,
        "with preset gemma it needs gainOffset 0");
    // The others round a row before it meets the gain, which leaves no place for a bias.
    boolean unbiased = !bias || order == CastOrder.FLOAT32;
    require(
        unbiased || castOrder != null,
        "preset",
        preset,
        "with bias it may be gemma, paper or pytorch");
    require(unbiased, "castOrder", castOrder, "with bias it may be float32");
  }

  private static CastOrder order(Preset preset, CastOrder castOrder) {
    return castOrder != null ? castOrder : preset != null ? preset.castOrder : CastOrder.FLOAT32;
  }

  private static Integer lengthOf(double[] values) {
    return values == null ? null : (Integer) values.length;
  }

  private static void requireLength(String name, double[] values, Integer width) {
    if (values != null && values.length != width) {
      throw new IllegalArgumentException(
          "%s has %s elements, the rows are %s wide".formatted(name, values.length, width));
    }
  }

  /** The part of a row of which something must be left when it is rounded down. */
  double leastPart() {
    return "down".equals(partRounded) ? partial : 1;
  }

  private static void require(boolean sense, String param, Object value, String allowed) {
    if (!sense) {
      String said = value instanceof Enum<?> e ? e.name().toLowerCase(Locale.ROOT) : "" + value;
      throw new IllegalArgumentException("%s is %s, %s".formatted(param, said, allowed));
    }
  }

  /**
   * Makes the norm for rows of a width and type. It does not start threads: Spark has its own.
   *
   * @throws IllegalArgumentException if rows of that width cannot be normalised
   */
  Norm norm(int width, ElementType type) {
    if (centred) {
      return configure(LayerNorm.builder(width)).build();
    }
    RmsNorm.Builder builder =
        configure(preset == null ? RmsNorm.builder(width) : preset.builder(width, type));
    if (castOrder != null) {
      builder.castOrder(castOrder);
    }
    if (partial != null && "down".equals(partRounded)) {
      builder.partialRoundedDown(partial);
    } else if (partial != null) {
      builder.partial(partial);
    }
    return builder.build();
  }

  private <B extends Norm.Builder<B>> B configure(B builder) {
    builder.threads(1);
    if (gain == null) {
      builder.gainOffset(0); // A preset's; there is nothing that it could be added to.
    } else {
      builder.gain(StoredGain.of(gain, gainType == null ? ElementType.FLOAT64 : gainType));
      if (gainOffset != null) {
        builder.gainOffset(gainOffset);
      }
    }
    if (bias != null) {
      builder.bias(bias);
    }
    if (epsilon != null) {
      builder.epsilon(epsilon);
    }
    if (placement != null) {
      builder.epsilonPlacement(placement);
    }
    return builder;
  }

  /** Equal settings make equal plans, of which Spark knows that their results are the same. */
  @Override
  public boolean equals(Object other) {
    return other instanceof NormSettings settings
        && choices().equals(settings.choices())
        && Arrays.equals(gain, settings.gain)
        && Arrays.equals(bias, settings.bias);
  }

  @Override
  public int hashCode() {
    return choices().hashCode() * 31 + Arrays.hashCode(gain);
  }

  private List<Object> choices() {
    return Arrays.asList(
        centred,
        preset,
        castOrder,
        width,
        gainType,
        gainOffset,
        epsilon,
        placement,
        partial,
        partRounded);
  }

  /** For a plan that somebody reads, so without the values of gain and bias. */
  @Override
  public String toString() {
    return (centred ? "LayerNorm" : "RmsNorm")
        + (preset == null ? "" : " like " + preset)
        + (width == null ? "" : " of " + width)
        + (gain == null ? "" : ", gain")
        + (bias == null ? "" : ", bias");
  }
}
