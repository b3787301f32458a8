package io.github.rmsnorm4j.transformer;

import java.lang.foreign.MemorySegment;

/** Tokens to rows of the embedding (V, d). */
final class Embedding {
  private final Matrix weight;
  private final Matrix gradient;

  Embedding(Weights weights, String name) {
    weight = weights.matrix(name + ".weight");
    gradient = weights.gradientMatrix(name + ".weight");
  }

  /** tokens (N) to y (N, d). */
  void forward(int[] tokens, Matrix y) {
    long bytes = (long) weight.columns * Float.BYTES;
    for (int n = 0; n < y.rows; n++) {
      MemorySegment.copy(weight.segment, tokens[n] * bytes, y.segment, n * bytes, bytes);
    }
  }

  /** The gradient of each row goes to its token. */
  void backward(int[] tokens, Matrix dy) {
    Floats from = dy.floats();
    Floats to = gradient.floats();
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
