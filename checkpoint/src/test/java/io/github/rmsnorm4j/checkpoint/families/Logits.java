package io.github.rmsnorm4j.checkpoint.families;

import static org.assertj.core.api.Assertions.assertThat;

/** Comparing logits. */
final class Logits {
  /** Tokens with a repetition, and with the first and the last of the vocabulary. */
  static final int[] IDS = {3, 17, 17, 0, 36, 9, 21, 4};

  private Logits() {}

  static double[][] of(TinyModel model) {
    return ReferenceForward.anyLogits(model, IDS);
  }

  /** The largest difference of the logits of two models, as a share of the largest logit. */
  static double distance(TinyModel a, TinyModel b) {
    return distance(of(a), of(b));
  }

  static double distance(double[][] a, double[][] b) {
    double largest = 0;
    double difference = 0;
    for (int t = 0; t < a.length; t++) {
      for (int i = 0; i < a[t].length; i++) {
        largest = Math.max(largest, Math.abs(a[t][i]));
        difference = Math.max(difference, Math.abs(a[t][i] - b[t][i]));
        if (Double.isNaN(a[t][i] - b[t][i])) {
          return Double.NaN;
        }
      }
    }
    return difference / largest;
  }

  /** A result is right, and with a change it is wrong. */
  static void assertMatters(TinyModel model, TinyModel result, TinyModel broken) {
    assertThat(distance(model, result)).isLessThan(1e-12);
    assertThat(distance(model, broken)).isGreaterThan(1e-4);
  }
}
