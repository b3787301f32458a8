package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ResidualRounding;
import java.io.IOException;
import picocli.CommandLine.Option;

/** The options for what rows are added to before they are normalised. */
final class ResidualOptions {
  @Option(
      names = "--residual",
      paramLabel = "FILE[:NAME]",
      description =
          "A residual, to which the rows are added before the norm. It has the shape of the rows; only"
              + " one tensor may be chosen (default: none).")
  private String residual;

  @Option(
      names = "--residual-rounding",
      paramLabel = "WHEN",
      converter = NamedChoices.Roundings.class,
      completionCandidates = NamedChoices.Roundings.class,
      description =
          "When the sum is rounded to the residual's type: ${COMPLETION-CANDIDATES}. first: before"
              + " everything else. between: after the mean square. last: only when it is written"
              + " (default: that of --like).")
  ResidualRounding rounding;

  /**
   * Opens the residual, if there is one.
   *
   * @return the residual, or null
   * @throws IllegalArgumentException if there is none and the rounding needs one, or it is not of a
   *     floating type
   */
  StoredRows open() throws IOException {
    if (residual != null) {
      return StoredRows.open("the residual", residual);
    }
    if (rounding != null) {
      throw new IllegalArgumentException(
          "--residual-rounding is %s, it needs --residual"
              .formatted(NamedChoices.lowerCase(rounding)));
    }
    return null;
  }
}
