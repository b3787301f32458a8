package io.github.rmsnorm4j.cli;

import java.io.IOException;
import picocli.CommandLine.Option;

/** The options that say what norm is wanted; all but {@code --norm} leave it to the library. */
final class NormOptions {
  @Option(
      names = "--norm",
      paramLabel = "NORM",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private NormSettings.Kind norm = NormSettings.Kind.rms;

  @Option(
      names = "--like",
      paramLabel = "NAME",
      description =
          "The RMSNorm of a model or framework: ${COMPLETION-CANDIDATES}. --cast-order, --eps,"
              + " --eps-at, --gain-offset and --partial override its settings.")
  private NormSettings.Preset like;

  @Option(
      names = "--cast-order",
      paramLabel = "ORDER",
      description =
          "Where 16-bit rows are rounded: ${COMPLETION-CANDIDATES}. float32 rounds once, at the end;"
              + " the others round as that model or framework does (default: that of --like, or"
              + " float32).")
  private NormSettings.Order castOrder;

  @Option(
      names = "--gain",
      paramLabel = "FILE[:NAME]",
      description = "The gain: one factor for each element of a row (default: none).")
  private String gain;

  @Option(
      names = "--gain-offset",
      paramLabel = "V",
      description =
          "A number that is added to every element of the gain: 1 for a gain that is stored less 1"
              + " (default: that of --like, or 0).")
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
          "Epsilon, which is added to the mean square or the variance (default: that of --like, or"
              + " 1e-6 for rms, 1e-5 for layer).")
  private Double epsilon;

  @Option(
      names = "--eps-at",
      paramLabel = "PLACE",
      description =
          "Where epsilon goes: ${COMPLETION-CANDIDATES}. inside: under the root. outside: added to"
              + " the root. floor: the root is at least epsilon (default: that of --like, or inside).")
  private NormSettings.EpsilonPlace epsilonPlace;

  @Option(
      names = "--partial",
      paramLabel = "P",
      description =
          "Partial RMSNorm: the mean square is of the first part of a row only, of P times its width;"
              + " above 0, at most 1 (default: 1).")
  private Double partial;

  @Option(
      names = "--partial-rounding",
      paramLabel = "WAY",
      description =
          "How P times the width is rounded to whole elements: ${COMPLETION-CANDIDATES} (default:"
              + " up, as in the paper; the code of its authors rounds down).")
  private NormSettings.PartRounded partialRounding;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads at most (default: one per processor).")
  private Integer threads;

  /**
   * What was asked for.
   *
   * @param residual the other options' part, null without one
   * @throws IllegalArgumentException if options do not go together
   */
  NormSettings settings(NormSettings.ResidualRounded residual) throws IOException {
    return new NormSettings(
        norm,
        like,
        castOrder,
        gain == null ? null : StoredParameter.of("gain", gain),
        gainOffset,
        bias == null ? null : StoredParameter.of("bias", bias),
        epsilon,
        epsilonPlace,
        partial,
        partialRounding,
        residual,
        threads);
  }
}
