package io.github.rmsnorm4j.models.transformer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Adam with decoupled weight decay: Loshchilov and Hutter, "Decoupled Weight Decay Regularization",
 * 2019, with the decay times the rate, as everybody has it.
 *
 * <pre>m = m + (1 - beta1) (g - m),   v = beta2 v + (1 - beta2) g g
 * p = p - rate decay p - rate / (1 - beta1^t) * m / ( sqrt(v / (1 - beta2^t)) + epsilon )</pre>
 */
final class AdamW implements AutoCloseable {
  private final Weights weights;
  private final TrainingSettings settings;
  private final Arena arena = Arena.ofShared();

  /** Of the same layout as the weights. */
  final MemorySegment means;

  final MemorySegment squares;
  private final Floats values;
  private final Floats gradients;
  private final Floats meansAsFloats;
  private final Floats squaresAsFloats;
  private long step;

  AdamW(Weights weights, TrainingSettings settings) {
    this.weights = weights;
    this.settings = settings;
    means = weights.allocate(arena);
    squares = weights.allocate(arena);
    values = new Floats(weights.values());
    gradients = new Floats(weights.gradients());
    meansAsFloats = new Floats(means);
    squaresAsFloats = new Floats(squares);
  }

  /** The global norm of the gradients: float64, from the first element to the last. */
  double gradientNorm() {
    Floats g = gradients;
    long n = weights.gradients().byteSize() / Float.BYTES;
    double sum = 0;
    for (long i = 0; i < n; i++) {
      double x = g.get(i);
      sum += x * x;
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
    for (int i = 0; i < weights.parameters().size(); i++) {
      Parameter parameter = weights.parameters().get(i);
      float keep = Weights.decays(parameter) ? kept : 1;
      update(parameter, (float) scale, keep, stepSize, root2);
    }
  }

  private void update(Parameter parameter, float scale, float keep, float stepSize, float root2) {
    Floats p = values;
    Floats g = gradients;
    Floats m = meansAsFloats;
    Floats v = squaresAsFloats;
    float new1 = (float) (1 - settings.beta1());
    float old2 = (float) settings.beta2();
    float new2 = (float) (1 - settings.beta2());
    float epsilon = (float) settings.epsilon();
    long end = parameter.offset() + parameter.elements();
    for (long i = parameter.offset(); i < end; i++) {
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
    arena.close();
  }
}
