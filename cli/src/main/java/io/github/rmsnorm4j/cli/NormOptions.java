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
          "The RMSNorm of one of these: ${COMPLETION-CANDIDATES}. --cast-order, --eps, --eps-at,"
              + " --gain-offset and --partial change that part of it.")
  private NormSettings.Preset like;

  @Option(
      names = "--cast-order",
      paramLabel = "ORDER",
      description =
          "Where rows of 16 bits are rounded on their way, ${COMPLETION-CANDIDATES}: only in the"
              + " end, or as these do (default: that of --like, or float32).")
  private NormSettings.Order castOrder;

  @Option(
      names = "--gain",
      paramLabel = "FILE[:NAME]",
      description = "What normalized elements are multiplied by (default: none).")
  private String gain;

  @Option(
      names = "--gain-offset",
      paramLabel = "V",
      description =
          "What is added to every element of the gain: 1 for one that is stored less 1 (default:"
              + " that of --like, or 0).")
  private Double gainOffset;

  @Option(
      names = "--bias",
      paramLabel = "FILE[:NAME]",
      description = "What is added to each element in the end (default: none).")
  private String bias;

  @Option(
      names = "--eps",
      paramLabel = "E",
      description =
          "What is added to the mean square or the variance (default: that of --like, or 1e-6 for"
              + " rms, 1e-5 for layer).")
  private Double epsilon;

  @Option(
      names = "--eps-at",
      paramLabel = "PLACE",
      description =
          "Where epsilon goes, ${COMPLETION-CANDIDATES}: under the root, beside it, or as the least"
              + " that the root may be (default: that of --like, or inside).")
  private NormSettings.EpsilonPlace epsilonPlace;

  @Option(
      names = "--partial",
      paramLabel = "P",
      description =
          "Partial RMSNorm: the mean square is that of this part of a row, from its start on; above"
              + " 0, at most 1 (default: 1).")
  private Double partial;

  @Option(
      names = "--partial-rounding",
      paramLabel = "WAY",
      description =
          "How that part is rounded to whole elements: ${COMPLETION-CANDIDATES} (default: up, as in"
              + " the paper; its code rounds down).")
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
