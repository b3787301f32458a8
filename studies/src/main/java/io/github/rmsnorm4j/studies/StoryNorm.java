package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cli.SpecText;
import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.studies.story.Change;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options that change the norms of the model that tells stories. */
final class StoryNorm {
  @Option(
      names = "--like",
      paramLabel = "NORM",
      completionCandidates = SpecText.class,
      description =
          "none, or a norm by its name, with settings that differ from it: layernorm,"
              + " \"rmsnorm(eps=1e-5, part=1/2)\", \"llama(eps=1e-5)\" (default: that of the training,"
              + " \"rmsnorm(eps=1e-5)\"). The gain is float32 here, so t5 rounds as rmsnorm does.")
  private String like;

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      converter = NarrowTypeConverter.class,
      description =
          "Round rows to bf16 or f16 before and after each norm; everything else is float32 (default: no"
              + " rounding).")
  private ElementType type;

  @Option(
      names = "--gain",
      paramLabel = "on|off",
      description = "off: norms without their trained gain (default: ${DEFAULT-VALUE}).")
  private Gain gain = Gain.on;

  /** Named as on the command line. */
  enum Gain {
    on,
    off
  }

  /** Reads the types of 16 bits. */
  static final class NarrowTypeConverter implements ITypeConverter<ElementType> {
    @Override
    public ElementType convert(String text) {
      try {
        ElementType type = ElementType.ofName(text);
        if (type.bytes() == Short.BYTES) {
          return type;
        }
      } catch (IllegalArgumentException _) {
        // Refused below, as the other types are.
      }
      throw new TypeConversionException("'" + text + "' is not bf16 or f16");
    }
  }

  /**
   * What was asked for.
   *
   * @throws WrongUseException if options are out of their range or do not go together
   */
  Change change() {
    boolean none = "none".equals(like);
    if (none) {
      String there = "with --like none there is no norm that has it";
      require(gain == Gain.on, "--gain", gain, there);
      require(type == null, "--type", type == ElementType.FLOAT16 ? "f16" : "bf16", there);
    }
    try {
      return new Change(
          none || like == null ? null : spec(like),
          none,
          gain == Gain.on,
          type == null ? ElementType.FLOAT32 : type);
    } catch (IllegalArgumentException e) {
      throw new WrongUseException("--like: none, or a norm: " + e.getMessage());
    }
  }

  private static NormSpec spec(String text) {
    NormSpec spec = NormSpec.parse(text);
    if (spec.gate() != Gate.NONE) {
      throw new IllegalArgumentException(
          "norm is '%s', it must have no gate: there is no second row".formatted(spec));
    }
    return spec;
  }

  /** Whether the norm rounds rows that are not rounded otherwise: to float32, so not at all. */
  static boolean isWithoutEffect(Change change) {
    return change.type() == ElementType.FLOAT32
        && change.norm() != null
        && List.of(CastOrder.LLAMA, CastOrder.T5, CastOrder.ROUNDED_ROOT, CastOrder.NONE)
            .contains(change.norm().castOrder());
  }

  private void require(boolean sense, String option, Object value, String allowed) {
    if (!sense) {
      throw new WrongUseException("%s is %s, %s".formatted(option, value, allowed));
    }
  }
}
