package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowPart;
import java.io.IOException;
import java.util.function.BiFunction;
import picocli.CommandLine.Option;

/** The options that say what norm is wanted. */
public final class NormOptions {
  /** For picocli. */
  public NormOptions() {}

  @Option(
      names = "--like",
      paramLabel = "NORM",
      completionCandidates = SpecText.class,
      description =
          "A norm by its name or a model_type, with settings that differ from it: layernorm, gemma3,"
              + " \"llama(eps=1e-5)\", \"rmsnorm(eps=1e-8 outside, part=1/16)\". --cast-order, --eps,"
              + " --eps-at, --gain-offset and --partial override its settings (default: rmsnorm).")
  private NormSpec like = NormSpec.RMSNORM;

  @Option(
      names = "--cast-order",
      paramLabel = "ORDER",
      converter = NamedChoices.Orders.class,
      completionCandidates = NamedChoices.Orders.class,
      description =
          "Where 16-bit rows are rounded: ${COMPLETION-CANDIDATES}. float32 rounds once, at the end;"
              + " the others round as that model or framework does (default: that of --like).")
  private CastOrder castOrder;

  @Option(
      names = "--gain",
      paramLabel = "FILE[:NAME]",
      description = "The gain: one factor for each element of a row (default: none).")
  private String gain;

  @Option(
      names = "--gain-offset",
      paramLabel = "V",
      description =
          "A number that is added to every element of the gain: 1 for a gain that is stored as g - 1"
              + " (default: that of --like).")
  private Double gainOffset;

  @Option(
      names = "--bias",
      paramLabel = "FILE[:NAME]",
      description = "The bias: one term for each element of a row, added last (default: none).")
  private String bias;

  @Option(
      names = "--eps",
      paramLabel = "E",
      description =
          "Epsilon, which is added to the mean square or the variance, or is the least length of l2"
              + " (default: that of --like).")
  private Double epsilon;

  @Option(
      names = "--eps-at",
      paramLabel = "PLACE",
      converter = NamedChoices.Placements.class,
      completionCandidates = NamedChoices.Placements.class,
      description =
          "Where epsilon goes: ${COMPLETION-CANDIDATES}. inside: under the root. outside: added to"
              + " the root. floor: the root is at least epsilon (default: that of --like).")
  private EpsilonPlacement epsilonPlace;

  @Option(
      names = "--partial",
      paramLabel = "P",
      description =
          "Partial RMSNorm: the mean square is of the first part of a row only, of P times its width;"
              + " above 0, at most 1 (default: that of --like).")
  private Double partial;

  @Option(
      names = "--partial-rounding",
      paramLabel = "WAY",
      description =
          "How P times the width is rounded to whole elements: ${COMPLETION-CANDIDATES} (default:"
              + " up, as in the paper; the code of its authors rounds down).")
  private PartRounding partialRounding;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads at most (default: one per processor).")
  private Integer threads;

  /** Named as on the command line. */
  enum PartRounding {
    up,
    down
  }

  /** The norm of {@code --like}, of which other options may override settings. */
  NormSpec like() {
    return like;
  }

  /** The limit of {@code --threads}; null where it was not given. */
  Integer threads() {
    return threads;
  }

  /**
   * Refuses a norm with a gate, where there is no second row.
   *
   * @throws WrongUseException if it has one
   */
  public void requireNoGate() {
    if (like.gate() != Gate.NONE) {
      throw new WrongUseException(
          "--like is %s, it must have no gate: there is no second row".formatted(like));
    }
  }

  /**
   * What was asked for.
   *
   * @param residualRounding the other options' part, null for that of {@code --like}
   * @throws IllegalArgumentException if options do not go together
   */
  public NormSettings settings(ResidualRounding residualRounding) throws IOException {
    require(partial != null, "--partial-rounding", partialRounding, "it needs --partial");
    require(gain != null, "--gain-offset", gainOffset, "it needs --gain, which it is added to");
    NormSpec spec = with(like, castOrder, NormSpec::withCastOrder);
    spec = with(spec, gainOffset, NormSpec::withGainOffset);
    spec = with(spec, epsilon, NormSpec::withEpsilon);
    spec = with(spec, epsilonPlace, NormSpec::withEpsilonPlacement);
    spec = with(spec, part(), NormSpec::withPart);
    spec = with(spec, residualRounding, NormSpec::withResidualRounding);
    return new NormSettings(
        spec,
        gain == null ? null : StoredParameter.of("gain", gain),
        bias == null ? null : StoredParameter.of("bias", bias),
        threads);
  }

  private RowPart part() {
    if (partial != null && !(partial > 0 && partial <= 1)) {
      throw new IllegalArgumentException(
          "--partial is %s, it must be above 0 and at most 1".formatted(partial));
    }
    RowPart part = partial == null ? null : RowPart.of(partial);
    return partialRounding == PartRounding.down ? part.down() : part;
  }

  private static <T> NormSpec with(
      NormSpec spec, T choice, BiFunction<NormSpec, T, NormSpec> override) {
    return choice == null ? spec : override.apply(spec, choice);
  }

  private static void require(boolean holds, String option, Object value, String allowed) {
    if (!holds && value != null) {
      throw new IllegalArgumentException("%s is %s, %s".formatted(option, value, allowed));
    }
  }
}
