package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import java.io.IOException;
import picocli.CommandLine.Option;

/** The option for the second rows of a norm with a gate. */
final class GateOptions {
  @Option(
      names = "--gate",
      paramLabel = "FILE[:NAME]",
      description =
          "The rows z of a norm with a gate, such as --like 'llama(gate=silu)'. They have the shape of"
              + " the rows; only one tensor may be chosen (default: none).")
  private String gate;

  /**
   * Opens the rows, if the norm has a gate.
   *
   * @param like the norm
   * @return the rows, or null
   * @throws IllegalArgumentException if there are no rows and the norm needs them, or the other way
   *     round, or they are not of a floating type
   */
  StoredRows open(NormSpec like) throws IOException {
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
