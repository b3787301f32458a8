package io.github.rmsnorm4j.models.families;

/**
 * Attention in float64.
 *
 * @param heads the query heads
 * @param keyHeads the key and value heads; each serves as many query heads
 * @param scale a factor of the scores
 * @param cap scores go through {@code cap * tanh(score / cap)}, unless it is infinite
 * @param causal whether a position sees only those before it
 */
record Attention(int heads, int keyHeads, double scale, double cap, boolean causal) {
  Attention(int heads, double scale) {
    this(heads, heads, scale, Double.POSITIVE_INFINITY, true);
  }

  /** What is added to a score. */
  interface Bias {
    double at(int head, int query, int key);
  }

  double[][] apply(double[][] q, double[][] k, double[][] v) {
    return apply(q, k, v, (_, _, _) -> 0);
  }

  double[][] apply(double[][] q, double[][] k, double[][] v, Bias bias) {
    int width = q[0].length / heads;
    double[][] y = new double[q.length][q[0].length];
    for (int head = 0; head < heads; head++) {
      int queryAt = head * width;
      int keyAt = head / (heads / keyHeads) * width;
      for (int t = 0; t < q.length; t++) {
        int seen = causal ? t + 1 : k.length;
        double[] weights = new double[seen];
        for (int s = 0; s < seen; s++) {
          double dot = 0;
          for (int i = 0; i < width; i++) {
            dot += q[t][queryAt + i] * k[s][keyAt + i];
          }
          weights[s] = capped(dot * scale, cap) + bias.at(head, t, s);
        }
        softmax(weights);
        for (int i = 0; i < width; i++) {
          for (int s = 0; s < seen; s++) {
            y[t][queryAt + i] += weights[s] * v[s][keyAt + i];
          }
        }
      }
    }
    return y;
  }

  static double capped(double score, double cap) {
    return Double.isInfinite(cap) ? score : cap * Math.tanh(score / cap);
  }

  private static void softmax(double[] scores) {
    double most = Double.NEGATIVE_INFINITY;
    for (double score : scores) {
      most = Math.max(most, score);
    }
    double sum = 0;
    for (int i = 0; i < scores.length; i++) {
      scores[i] = Math.exp(scores[i] - most);
      sum += scores[i];
    }
    for (int i = 0; i < scores.length; i++) {
      scores[i] /= sum;
    }
  }

  /**
   * Rotates each head by its position: elements {@code i} and {@code i + rotated / 2} of the first
   * {@code rotated} are a pair.
   */
  static double[][] rotate(double[][] x, int head, int rotated, double theta) {
    double[][] y = new double[x.length][];
    for (int t = 0; t < x.length; t++) {
      y[t] = x[t].clone();
      for (int at = 0; at < x[t].length; at += head) {
        for (int i = 0; i < rotated / 2; i++) {
          double angle = t * Math.pow(theta, -2.0 * i / rotated);
          double a = x[t][at + i];
          double b = x[t][at + i + rotated / 2];
          y[t][at + i] = a * Math.cos(angle) - b * Math.sin(angle);
          y[t][at + i + rotated / 2] = b * Math.cos(angle) + a * Math.sin(angle);
        }
      }
    }
    return y;
  }
}
