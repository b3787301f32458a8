package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.transformer.StepTimes.Part;
import java.lang.foreign.MemorySegment;

/** Tokens to rows of the embedding (V, d), to which learned positions (P, d) add theirs. */
final class Embedding {
  private final Tape tape;
  private final Variable weight;

  /** Null where positions are rotations. */
  private final Variable positions;

  private final int[] tokens;
  private final Variable y;

  /** The tokens (N) of each pass are there before it begins; y is (N, d). */
  Embedding(Tape tape, int[] tokens, Variable y) {
    this.tape = tape;
    this.tokens = tokens;
    this.y = y;
    weight = tape.learned(ParameterLayout.EMBEDDING + ".weight");
    positions = tape.learned(ParameterLayout.POSITIONS + ".weight");
    tape.add(Part.REST, this::forward, this::backward);
  }

  private void forward() {
    Matrix rows = y.values;
    long bytes = (long) rows.columns * Float.BYTES;
    for (int n = 0; n < rows.rows; n++) {
      long token = tokens[n] * bytes;
      MemorySegment.copy(weight.values.segment, token, rows.segment, n * bytes, bytes);
      if (positions != null) {
        rows.addToRow(n, positions.values, tape.past() + n % tape.sequence);
      }
    }
  }

  /** The gradient of each row goes to its token. */
  private void backward() {
    for (int n = 0; n < tokens.length; n++) {
      weight.gradient().addToRow(tokens[n], y.gradient(), n);
    }
  }
}
