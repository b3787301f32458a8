package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;
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
    int d = y.values.columns;
    long bytes = (long) d * Float.BYTES;
    MemorySegment rows = y.values.segment;
    for (int n = 0; n < tokens.length; n++) {
      MemorySegment.copy(weight.values.segment, tokens[n] * bytes, rows, n * bytes, bytes);
      if (positions != null) {
        int position = tape.past() + n % tape.sequence;
        addRow(positions.values.floats(), position, y.values.floats(), n, d);
      }
    }
  }

  /** The gradient of each row goes to its token. */
  private void backward() {
    for (int n = 0; n < tokens.length; n++) {
      Floats gradient = weight.gradient().floats();
      addRow(y.gradient().floats(), n, gradient, tokens[n], y.values.columns);
    }
  }

  private static void addRow(Floats from, int row, Floats to, int toRow, int d) {
    for (int i = 0; i < d; i++) {
      long at = (long) toRow * d + i;
      to.set(at, to.get(at) + from.get((long) row * d + i));
    }
  }
}
