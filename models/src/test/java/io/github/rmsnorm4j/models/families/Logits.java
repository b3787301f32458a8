package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.models.transformer.Arithmetic;
import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.ModelFolder;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

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

  /** The logits that the transformer module computes, in float32. */
  static double[][] ofTransformer(Path folder) throws IOException {
    try (Weights weights = ModelFolder.load(folder);
        Model model = new Model(weights, 1, IDS.length, 1, Arithmetic.PLAIN)) {
      model.forward(IDS);
      float[] all = model.logits().toArray(ValueLayout.JAVA_FLOAT);
      double[][] logits = new double[IDS.length][all.length / IDS.length];
      for (int i = 0; i < all.length; i++) {
        logits[i / logits[0].length][i % logits[0].length] = all[i];
      }
      return logits;
    }
  }

  /** A result is right, and with a change it is wrong. */
  static void assertMatters(TinyModel model, TinyModel result, TinyModel broken) {
    assertThat(distance(model, result)).isLessThan(1e-12);
    assertThat(distance(model, broken)).isGreaterThan(1e-4);
  }
}
