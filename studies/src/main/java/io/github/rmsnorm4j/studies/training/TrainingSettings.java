package io.github.rmsnorm4j.studies.training;

import static io.github.rmsnorm4j.models.internal.Requirement.require;

/**
 * How a model is trained: AdamW, a rate that rises in a straight line and falls along a cosine, and
 * gradients clipped by their global norm.
 *
 * @param steps how many steps the rate's course is laid out for
 * @param warmup steps until the rate is at its highest
 * @param rate the highest rate
 * @param finalShare what share of it is left in the end
 * @param weightDecay how much of a matrix a rate of 1 would take away; gains and biases are left
 *     out
 * @param beta1 how slowly the mean of the gradients forgets
 * @param beta2 how slowly the mean of their squares forgets
 * @param epsilon what is added to the root of that mean
 * @param clip the largest global norm of the gradients; infinite for none
 */
public record TrainingSettings(
    long steps,
    long warmup,
    double rate,
    double finalShare,
    double weightDecay,
    double beta1,
    double beta2,
    double epsilon,
    double clip) {

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one is out of its range
   */
  public TrainingSettings {
    require(steps >= 1, "steps", steps, "be at least 1");
    require(warmup >= 0 && warmup <= steps, "warmup", warmup, "be between 0 and " + steps);
    require(rate >= 0 && Double.isFinite(rate), "rate", rate, "be finite and not negative");
    require(finalShare >= 0 && finalShare <= 1, "finalShare", finalShare, "be between 0 and 1");
    require(
        weightDecay >= 0 && Double.isFinite(weightDecay),
        "weightDecay",
        weightDecay,
        "be finite and not negative");
    require(beta1 >= 0 && beta1 < 1, "beta1", beta1, "be at least 0 and below 1");
    require(beta2 >= 0 && beta2 < 1, "beta2", beta2, "be at least 0 and below 1");
    require(epsilon > 0 && Double.isFinite(epsilon), "epsilon", epsilon, "be finite and above 0");
    require(clip > 0, "clip", clip, "be above 0");
  }

  /**
   * {@return the settings that are usual for small language models: a tenth of the steps to warm
   * up, down to a tenth of the rate, decay 0.1, betas 0.9 and 0.95, epsilon 1e-8, clipped at 1}
   *
   * @param steps how many steps
   * @param rate the highest rate
   */
  public static TrainingSettings of(long steps, double rate) {
    return new TrainingSettings(steps, steps / 10, rate, 0.1, 0.1, 0.9, 0.95, 1e-8, 1);
  }

  /**
   * {@return the rate of a step}
   *
   * @param step 0 for the first; after the last the rate stays as it is
   */
  public double rateAt(long step) {
    if (step < warmup) {
      return rate * (step + 1) / warmup;
    }
    double done = steps == warmup ? 1 : Math.min(1, (double) (step - warmup) / (steps - warmup));
    double lowest = rate * finalShare;
    return lowest + (rate - lowest) * (1 + StrictMath.cos(Math.PI * done)) / 2;
  }
}
