package io.github.rmsnorm4j.cli;

import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The options for what is added to the rows before they are normalised. */
final class ResidualOptions {
  @Option(
      names = "--residual",
      paramLabel = "FILE[:NAME]",
      description =
          "A residual, of the same shape as the one tensor that is normalized (default: none).")
  private String residual;

  @Option(
      names = "--residual-out",
      paramLabel = "FILE",
      description = "Where the sum is written, in the residual's type (default: nowhere).")
  private Path out;

  @Option(
      names = "--residual-rounding",
      paramLabel = "WHEN",
      description =
          "When the sum is rounded to the residual's type, ${COMPLETION-CANDIDATES}: before all,"
              + " after the mean square, or only to be written (default: first).")
  private NormSettings.ResidualRounded rounding;

  NormSettings.ResidualRounded rounding() {
    return rounding;
  }

  /** Where the sum goes, or null. */
  Path out() {
    return out;
  }

  /**
   * Opens the residual, if there is one.
   *
   * @return the residual, or null
   * @throws IllegalArgumentException if there is none and other options need one, or it is not of a
   *     floating type
   */
  StoredResidual open() throws IOException {
    if (residual == null) {
      if (out != null || rounding != null) {
        throw new IllegalArgumentException(
            "%s is %s, it needs --residual"
                .formatted(
                    out != null ? "--residual-out" : "--residual-rounding",
                    out != null ? out : rounding));
      }
      return null;
    }
    return StoredResidual.open(residual);
  }
}
