package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;

/** The loss: mean over the targets of {@code log(sum_v e^logit_v) - logit_target}, in nats. */
final class CrossEntropy {
  /** How many tokens the last run asked for. */
  int targets;

  /** For how many of them the largest logit was the right one. */
  int correct;

  /**
   * The loss, and its gradient.
   *
   * @param logits (N, V)
   * @param wanted (N), below 0 where nothing is asked
   * @param gradient (N, V), takes d loss / d logits
   * @return the loss, NaN where nothing is asked at all
   */
  double run(Matrix logits, int[] wanted, Matrix gradient) {
    targets = 0;
    correct = 0;
    for (int n = 0; n < logits.rows; n++) {
      targets += wanted[n] >= 0 ? 1 : 0;
    }
    Floats x = logits.floats();
    Floats g = gradient.floats();
    double sum = 0;
    for (int n = 0; n < logits.rows; n++) {
      sum += row(x, g, (long) n * logits.columns, logits.columns, wanted[n]);
    }
    return sum / targets;
  }

  private double row(Floats x, Floats g, long first, int columns, int target) {
    if (target < 0) {
      for (int v = 0; v < columns; v++) {
        g.set(first + v, 0);
      }
      return 0;
    }
    int best = 0;
    for (int v = 1; v < columns; v++) {
      best = x.get(first + v) > x.get(first + best) ? v : best;
    }
    float largest = x.get(first + best);
    correct += best == target ? 1 : 0;
    double sum = 0;
    for (int v = 0; v < columns; v++) {
      double e = Math.exp((double) x.get(first + v) - largest);
      sum += e;
      g.set(first + v, (float) e);
    }
    float scale = (float) (1 / (sum * targets));
    for (int v = 0; v < columns; v++) {
      g.set(first + v, g.get(first + v) * scale);
    }
    g.set(first + target, g.get(first + target) - 1f / targets);
    return Math.log(sum) + largest - x.get(first + target);
  }
}
