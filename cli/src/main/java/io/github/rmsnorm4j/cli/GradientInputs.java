package io.github.rmsnorm4j.cli;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * What a backward pass reads: tensors of one shape.
 *
 * @param x the rows that were normalised, or added to the residual before
 * @param residual what they were added to, or null
 * @param gate the rows of the norm's gate, or null
 * @param dy the gradient of the result
 * @param dresidual the gradient of the residual's sum, or null
 */
record GradientInputs(
    StoredRows x, StoredRows residual, StoredRows gate, StoredRows dy, StoredRows dresidual) {
  /**
   * Checks that they go together.
   *
   * @throws IllegalArgumentException if they do not
   */
  GradientInputs {
    for (StoredRows other : present(residual, gate, dy, dresidual)) {
      other.requireLike(x.tensor());
    }
  }

  private static List<StoredRows> present(StoredRows... inputs) {
    return Stream.of(inputs).filter(Objects::nonNull).toList();
  }

  List<StoredRows> all() {
    return present(x, residual, gate, dy, dresidual);
  }

  /** All bytes that are read. */
  long bytes() {
    return all().stream().mapToLong(input -> input.tensor().bytes()).sum();
  }

  /** The bytes of the largest element. */
  int widest() {
    return all().stream().mapToInt(input -> input.type().bytes()).max().getAsInt();
  }

  /** The types, in words. */
  String types() {
    String sum = residual == null ? "" : " added to " + residual.type().shortName();
    String gated = gate == null ? "" : ", gate " + gate.type().shortName();
    return "x %s%s%s, dy %s".formatted(x.type().shortName(), sum, gated, dy.type().shortName());
  }
}
