package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.transformer.StepTimes.Part;
import java.lang.foreign.MemorySegment;

/** Tokens to rows of the embedding (V, d), to which learned positions (P, d) add theirs. */
final class Embedding {
  private Embedding() {}

  /** The tokens (N) of each pass are there before it begins; y is (N, d). */
  static void add(Tape tape, int[] tokens, Variable y) {
    Variable weight = tape.learned(ParameterLayout.EMBEDDING + ".weight");
    Variable positions = tape.learned(ParameterLayout.POSITIONS + ".weight");
    Matrix rows = y.values;
    long bytes = (long) rows.columns * Float.BYTES;
    tape.add(
        Part.REST,
        () -> {
          for (int n = 0; n < rows.rows; n++) {
            long token = tokens[n] * bytes;
            MemorySegment.copy(weight.values.segment, token, rows.segment, n * bytes, bytes);
            if (positions != null) {
              rows.addToRow(n, positions.values, tape.past() + n % tape.sequence);
            }
          }
        },
        () -> {
          for (int n = 0; n < tokens.length; n++) {
            weight.gradient().addToRow(tokens[n], y.gradient(), n);
          }
        });
  }
}
