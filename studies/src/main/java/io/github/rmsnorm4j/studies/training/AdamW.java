package io.github.rmsnorm4j.studies.training;

import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.transformer.Parameter;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.util.List;

/**
 * Adam with decoupled weight decay: Loshchilov and Hutter, "Decoupled Weight Decay Regularization",
 * 2019, with the decay times the rate, as everybody has it.
 *
 * <pre>m = m + (1 - beta1) (g - m),   v = beta2 v + (1 - beta2) g g
 * p = p - rate decay p - rate / (1 - beta1^t) * m / ( sqrt(v / (1 - beta2^t)) + epsilon )</pre>
 */
final class AdamW implements AutoCloseable {
  private final TrainingSettings settings;

  /** The running means of the gradients and of their squares, one for each learned number. */
  final Weights means;

  final Weights squares;
  private final List<Learned> tensors;
  private long step;

  AdamW(Weights weights, TrainingSettings settings) {
    this.settings = settings;
    means = new Weights(weights.config());
    squares = new Weights(weights.config());
    tensors =
        weights.parameters().stream()
            .map(
                parameter ->
                    new Learned(
                        parameter,
                        new Floats(weights.values(parameter)),
                        new Floats(weights.gradient(parameter)),
                        new Floats(means.values(parameter)),
                        new Floats(squares.values(parameter))))
            .toList();
  }

  /** A tensor of the model, and what goes with each of its numbers. */
  private record Learned(
      Parameter parameter, Floats values, Floats gradients, Floats means, Floats squares) {}

  /** The global norm of the gradients: float64, from the first element to the last. */
  double gradientNorm() {
    double sum = 0;
    for (int t = 0; t < tensors.size(); t++) {
      Floats g = tensors.get(t).gradients;
      long n = tensors.get(t).parameter.elements();
      for (long i = 0; i < n; i++) {
        double x = g.get(i);
        sum += x * x;
      }
    }
    return Math.sqrt(sum);
  }

  /**
   * Takes a step.
   *
   * @param rate the learning rate
   * @param scale what the gradients are multiplied by first
   */
  void step(double rate, double scale) {
    step++;
    double correction1 = 1 - StrictMath.pow(settings.beta1(), step);
    double correction2 = 1 - StrictMath.pow(settings.beta2(), step);
    float stepSize = (float) (rate / correction1);
    float root2 = (float) Math.sqrt(correction2);
    float kept = (float) (1 - rate * settings.weightDecay());
    // Without an iterator, so that a step makes no object.
    for (int i = 0; i < tensors.size(); i++) {
      Learned tensor = tensors.get(i);
      float keep = tensor.parameter.isMatrix() ? kept : 1;
      update(tensor, (float) scale, keep, stepSize, root2);
    }
  }

  private void update(Learned tensor, float scale, float keep, float stepSize, float root2) {
    Floats p = tensor.values;
    Floats g = tensor.gradients;
    Floats m = tensor.means;
    Floats v = tensor.squares;
    float new1 = (float) (1 - settings.beta1());
    float old2 = (float) settings.beta2();
    float new2 = (float) (1 - settings.beta2());
    float epsilon = (float) settings.epsilon();
    long n = tensor.parameter.elements();
    for (long i = 0; i < n; i++) {
      float gradient = g.get(i) * scale;
      float mean = m.get(i) + new1 * (gradient - m.get(i));
      float square = old2 * v.get(i) + new2 * (gradient * gradient);
      m.set(i, mean);
      v.set(i, square);
      float root = (float) Math.sqrt(square) / root2 + epsilon;
      p.set(i, p.get(i) * keep - stepSize * (mean / root));
    }
  }

  /** Steps taken. */
  long step() {
    return step;
  }

  /** Goes on from where another one was, whose moments have been read into this one's. */
  void goOnFrom(long step) {
    this.step = step;
  }

  @Override
  public void close() {
    means.close();
    squares.close();
  }
}
