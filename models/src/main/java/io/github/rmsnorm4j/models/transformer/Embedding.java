package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;
import java.lang.foreign.MemorySegment;

/** Tokens to rows of the embedding (V, d), to which learned positions (P, d) add theirs. */
final class Embedding {
  private final Learned weight;

  /** Null where positions are rotations. */
  private final Learned positionWeight;

  private final Positions positions;
  private final int sequence;

  Embedding(Setup setup) {
    weight = setup.weights().learned(ParameterLayout.EMBEDDING + ".weight");
    positionWeight = setup.weights().learnedOrNull(ParameterLayout.POSITIONS + ".weight");
    positions = setup.positions();
    sequence = setup.sequence();
  }

  /** tokens (N) to y (N, d). */
  void forward(int[] tokens, Matrix y) {
    long bytes = (long) y.columns * Float.BYTES;
    for (int n = 0; n < y.rows; n++) {
      MemorySegment.copy(weight.values.segment, tokens[n] * bytes, y.segment, n * bytes, bytes);
    }
    if (positionWeight != null) {
      addPositions(y);
    }
  }

  private void addPositions(Matrix y) {
    Floats from = positionWeight.values.floats();
    Floats to = y.floats();
    for (int n = 0; n < y.rows; n++) {
      long row = (long) n * y.columns;
      long position = (long) (positions.past() + n % sequence) * y.columns;
      for (int i = 0; i < y.columns; i++) {
        to.set(row + i, to.get(row + i) + from.get(position + i));
      }
    }
  }

  /** The gradient of each row goes to its token. */
  void backward(int[] tokens, Matrix dy) {
    Floats from = dy.floats();
    Floats to = weight.gradient().floats();
    int d = dy.columns;
    for (int n = 0; n < dy.rows; n++) {
      long row = (long) n * d;
      long token = (long) tokens[n] * d;
      for (int i = 0; i < d; i++) {
        to.set(token + i, to.get(token + i) + from.get(row + i));
      }
    }
  }
}
