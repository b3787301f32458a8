package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import java.io.IOException;
import picocli.CommandLine.Option;

/** The options for what stands beside the rows: a residual that is added, or the rows of a gate. */
final class BesideOptions {
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

  @Option(
      names = "--gate",
      paramLabel = "FILE[:NAME]",
      description =
          "The rows z of a norm with a gate, such as --like 'llama(gate=silu)'. They have the shape of"
              + " the rows; only one tensor may be chosen (default: none).")
  private String gate;

  /**
   * Opens the residual, if there is one.
   *
   * @return the residual, or null
   * @throws IllegalArgumentException if there is none and the rounding needs one, or it is not of a
   *     floating type
   */
  StoredRows residual() throws IOException {
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

  /**
   * Opens the rows, if the norm has a gate.
   *
   * @param like the norm
   * @return the rows, or null
   * @throws IllegalArgumentException if there are no rows and the norm needs them, or the other way
   *     round, or they are not of a floating type
   */
  StoredRows gate(NormSpec like) throws IOException {
    if (like.gate() == Gate.NONE) {
      if (gate != null) {
        throw new IllegalArgumentException(
            "--gate is %s, --like is %s and has no gate: it must have one, as rmsnorm(gate=silu)"
                .formatted(gate, like));
      }
      return null;
    }
    if (gate == null) {
      throw new IllegalArgumentException("--like is %s, it needs --gate".formatted(like));
    }
    return StoredRows.open("the gate", gate);
  }

  /**
   * Refuses what a norm with a gate does not have.
   *
   * @param gate the rows of the gate, or null
   * @param option the name of the other option
   * @param other what it names, or null
   */
  static void requireAlone(StoredRows gate, String option, Object other) {
    if (gate != null && other != null) {
      throw new WrongUseException(
          "%s and --gate were given: a norm with a gate takes no residual".formatted(option));
    }
  }
}
