package io.github.rmsnorm4j.studies.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import io.github.rmsnorm4j.models.transformer.ModelConfig;
import io.github.rmsnorm4j.models.transformer.Parameter;
import io.github.rmsnorm4j.models.transformer.Weights;
import org.junit.jupiter.api.Test;

/** The optimiser against its formula in float64, and the rate's course. */
class AdamWTest {
  private static ModelConfig tiny(NormSpec norm) {
    return ModelConfig.of(
        11,
        12,
        2,
        4,
        o -> {
          o.headWidth = 4;
          o.mlpWidth = 10;
          o.norm = norm;
        });
  }

  /** With gains and biases that are not those of the start, which would hide mistakes. */
  private static Weights weights(ModelConfig config) {
    Weights weights = new Weights(config);
    SeededRandom random = new SeededRandom(1, 0);
    for (Parameter parameter : weights.parameters()) {
      Floats values = new Floats(weights.values(parameter));
      for (int i = 0; i < parameter.elements(); i++) {
        values.set(i, (float) (1 + 0.3 * random.nextGaussian()));
      }
    }
    return weights;
  }

  @Test
  void stepsAreThoseOfTheFormula() {
    ModelConfig config = tiny(NormSpec.LAYERNORM);
    TrainingSettings settings =
        new TrainingSettings(10, 0, 0.02, 1, 0.3, 0.8, 0.9, 1e-6, Double.POSITIVE_INFINITY);
    try (Weights weights = weights(config)) {
      for (Parameter parameter : weights.parameters()) {
        double[] p = new double[(int) parameter.elements()];
        double[] m = new double[p.length];
        double[] v = new double[p.length];
        Floats values = new Floats(weights.values(parameter));
        for (int i = 0; i < p.length; i++) {
          p[i] = values.get(i);
        }
        double decay = parameter.name().contains("norm") ? 0 : 0.3;
        try (AdamW optimiser = new AdamW(weights, settings)) {
          for (int t = 1; t <= 5; t++) {
            for (int i = 0; i < p.length; i++) {
              double g = Math.sin(t + i);
              new Floats(weights.gradient(parameter)).set(i, (float) (2 * g));
              m[i] = 0.8 * m[i] + 0.2 * g;
              v[i] = 0.9 * v[i] + 0.1 * g * g;
              double root = Math.sqrt(v[i] / (1 - Math.pow(0.9, t))) + 1e-6;
              p[i] -= 0.02 * decay * p[i] + 0.02 / (1 - Math.pow(0.8, t)) * m[i] / root;
            }
            optimiser.step(0.02, 0.5);
          }
        }
        for (int i = 0; i < p.length; i++) {
          assertThat((double) values.get(i))
              .as("%s[%d]", parameter.name(), i)
              .isCloseTo(p[i], within(1e-6));
        }
        weights.zeroGradients();
      }
    }
  }

  @Test
  void theNormIsThatOfAllGradients() {
    try (Weights weights = new Weights(tiny(NormSpec.RMSNORM));
        AdamW optimiser = new AdamW(weights, TrainingSettings.of(1, 1))) {
      long n = 0;
      for (Parameter parameter : weights.parameters()) {
        Floats gradient = new Floats(weights.gradient(parameter));
        for (int i = 0; i < parameter.elements(); i++) {
          gradient.set(i, 2);
        }
        n += parameter.elements();
      }
      assertThat(optimiser.gradientNorm()).isCloseTo(2 * Math.sqrt(n), within(1e-9));
    }
  }

  @Test
  void theRateRisesAndFalls() {
    TrainingSettings settings = new TrainingSettings(110, 10, 2, 0.1, 0, 0.9, 0.95, 1e-8, 1);
    assertThat(settings.rateAt(0)).isCloseTo(0.2, within(1e-12));
    assertThat(settings.rateAt(9)).isCloseTo(2, within(1e-12));
    assertThat(settings.rateAt(10)).isCloseTo(2, within(1e-12));
    assertThat(settings.rateAt(60)).isCloseTo(1.1, within(1e-12));
    assertThat(settings.rateAt(110)).isCloseTo(0.2, within(1e-12));
    assertThat(settings.rateAt(1000)).isCloseTo(0.2, within(1e-12));
  }

  @Test
  void settingsOutOfRange() {
    assertThatThrownBy(() -> TrainingSettings.of(0, 1))
        .hasMessage("steps is 0, it must be at least 1");
    assertThatThrownBy(() -> TrainingSettings.of(10, Double.NaN))
        .hasMessage("rate is NaN, it must be finite and not negative");
    assertThatThrownBy(() -> new TrainingSettings(1, 2, 1, 0, 0, 0, 0, 1, 1))
        .hasMessage("warmup is 2, it must be between 0 and 1");
    assertThatThrownBy(() -> new TrainingSettings(1, 0, 1, 0, 0, 1, 0, 1, 1))
        .hasMessage("beta1 is 1.0, it must be at least 0 and below 1");
  }
}
