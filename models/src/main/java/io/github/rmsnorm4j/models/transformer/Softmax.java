package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;

/**
 * The softmax of causal attention: with P positions before the pass, row t of (T, P + T) scores is
 * over columns 0 to P + t.
 */
final class Softmax {
  private Softmax() {}

  /** Scores to weights, in place; what lies in the future becomes 0. */
  static void forward(Matrix scores) {
    Floats x = scores.floats();
    int columns = scores.columns;
    int past = columns - scores.rows;
    for (int t = 0; t < scores.rows; t++) {
      long row = (long) t * scores.stride;
      int last = past + t;
      float largest = Float.NEGATIVE_INFINITY;
      for (int j = 0; j <= last; j++) {
        largest = Math.max(largest, x.get(row + j));
      }
      double sum = 0;
      for (int j = 0; j <= last; j++) {
        float e = (float) Math.exp(x.get(row + j) - largest);
        x.set(row + j, e);
        sum += e;
      }
      float scale = (float) (1 / sum);
      for (int j = 0; j <= last; j++) {
        x.set(row + j, x.get(row + j) * scale);
      }
      for (int j = last + 1; j < columns; j++) {
        x.set(row + j, 0);
      }
    }
  }

  /** {@code ds = p * (dp - sum(dp * p))}, row by row, written over dp; P is 0. */
  static void backward(Matrix weights, Matrix gradient) {
    Floats p = weights.floats();
    Floats g = gradient.floats();
    for (int t = 0; t < weights.rows; t++) {
      long prow = (long) t * weights.stride;
      long grow = (long) t * gradient.stride;
      double sum = 0;
      for (int j = 0; j <= t; j++) {
        sum += (double) p.get(prow + j) * g.get(grow + j);
      }
      float mean = (float) sum;
      for (int j = 0; j <= t; j++) {
        g.set(grow + j, p.get(prow + j) * (g.get(grow + j) - mean));
      }
      for (int j = t + 1; j < weights.columns; j++) {
        g.set(grow + j, 0);
      }
    }
  }
}
