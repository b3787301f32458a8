package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cli.story.Change;
import io.github.rmsnorm4j.transformer.NormKind;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options that change the norms of the model that tells stories. */
final class StoryNorm {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--norm",
      paramLabel = "NORM",
      converter = ChoiceConverter.class,
      description =
          "rms, layer, none, or partial:P, whose mean square is that of the first part P of a row;"
              + " P is above 0 and at most 1 (default: rms, as trained).")
  private Choice norm = new Choice(NormKind.RMS_NORM, 1);

  @Option(
      names = "--eps",
      paramLabel = "E",
      description = "Epsilon of every norm (default: 1e-5, as trained).")
  private Double epsilon;

  @Option(
      names = "--cast-order",
      paramLabel = "ORDER",
      description =
          "Where an RMSNorm rounds between input and output, ${COMPLETION-CANDIDATES} (default: float32, only at"
              + " the end). t5 rounds to the type of the gain. The gain is float32 here, so t5 does"
              + " as float32 does.")
  private NormSettings.Order castOrder;

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      converter = NarrowTypeConverter.class,
      description =
          "Round rows to bf16 or f16 before and after each norm; all else is float32 (default: no"
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

  /**
   * Which norm.
   *
   * @param share of a partial norm
   */
  record Choice(NormKind kind, double share) {}

  /** Reads {@code partial:0.5} and the names of the other norms. */
  static final class ChoiceConverter implements ITypeConverter<Choice> {
    private static final String PARTIAL = "partial:";

    @Override
    public Choice convert(String text) {
      return switch (text) {
        case "rms" -> new Choice(NormKind.RMS_NORM, 1);
        case "layer" -> new Choice(NormKind.LAYER_NORM, 1);
        case "none" -> new Choice(NormKind.NONE, 1);
        default -> new Choice(NormKind.PARTIAL_RMS_NORM, share(text));
      };
    }

    private static double share(String text) {
      double share = Double.NaN;
      if (text.startsWith(PARTIAL)) {
        try {
          share = Double.parseDouble(text.substring(PARTIAL.length()));
        } catch (NumberFormatException _) {
          // It stays NaN, which is refused below.
        }
      }
      if (!(share > 0 && share <= 1)) {
        throw new TypeConversionException(
            "'" + text + "' is not rms, layer, none or partial:P with a P above 0 and at most 1");
      }
      return share;
    }
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
   * @throws ParameterException if options are out of their range or do not go together
   */
  Change change() {
    require(
        epsilon == null || epsilon >= 0 && epsilon <= Double.MAX_VALUE,
        "--eps",
        epsilon,
        "it must be finite and not negative");
    if (norm.kind() == NormKind.NONE) {
      String there = "with --norm none there is no norm that has it";
      require(epsilon == null, "--eps", epsilon, there);
      require(gain == Gain.on, "--gain", gain, there);
      require(type == null, "--type", type == ElementType.FLOAT16 ? "f16" : "bf16", there);
      require(castOrder == null, "--cast-order", castOrder, there);
    }
    require(
        castOrder == null || norm.kind() != NormKind.LAYER_NORM,
        "--cast-order",
        castOrder,
        "it needs --norm rms or partial:P");
    return new Change(
        norm.kind(),
        norm.share(),
        epsilon,
        gain == Gain.on,
        type == null ? ElementType.FLOAT32 : type,
        castOrder == null ? CastOrder.FLOAT32 : castOrder.castOrder());
  }

  /**
   * Whether the cast order rounds rows that are not rounded otherwise: to float32, so not at all.
   */
  boolean isWithoutEffect() {
    boolean casts = castOrder == NormSettings.Order.llama || castOrder == NormSettings.Order.t5;
    return casts && type == null;
  }

  private void require(boolean sense, String option, Object value, String allowed) {
    if (!sense) {
      throw new ParameterException(
          spec.commandLine(), "%s is %s, %s".formatted(option, value, allowed));
    }
  }
}
