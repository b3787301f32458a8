package io.github.rmsnorm4j.models.transformer;

import static io.github.rmsnorm4j.models.internal.Requirement.requireBetween;

import io.github.rmsnorm4j.models.transformer.StepTimes.Part;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The layers of a model in the order of the forward pass, and what they share. The backward pass
 * takes them from the last to the first.
 */
final class Tape implements AutoCloseable {
  private record Layer(Part part, Runnable forward, Runnable backward) {}

  /** Of layers that change no gradient, and of those in no form that is trained. */
  static final Runnable NOTHING = () -> {};

  final ModelConfig config;
  final Weights weights;
  final int batch;
  final int sequence;

  /** The longest that a sequence may become: T, or more if passes continue it. */
  final int positions;

  /** Whether a pass continues the one before it, whose keys and values are then kept. */
  final boolean continues;

  final int threads;
  final Arithmetic arithmetic;
  final Arena arena = Arena.ofShared();
  final StepTimes times = new StepTimes();

  private final List<Layer> layers = new ArrayList<>();
  private final Map<String, Matrix> shared = new HashMap<>();
  private int past;

  Tape(
      Weights weights,
      int batch,
      int sequence,
      int positions,
      boolean continues,
      int threads,
      Arithmetic arithmetic) {
    config = weights.config();
    requireBetween("batch", batch, 1, Integer.MAX_VALUE / Math.max(sequence, 1));
    requireBetween("sequence", positions, 1, config.maxPositions());
    requireBetween("threads", threads, 1, Integer.MAX_VALUE);
    this.weights = weights;
    this.batch = batch;
    this.sequence = sequence;
    this.positions = positions;
    this.continues = continues;
    this.threads = threads;
    this.arithmetic = arithmetic;
  }

  /** Rows of activations, N. */
  int rows() {
    return batch * sequence;
  }

  Matrix allocate(int rows, int columns) {
    return Matrix.allocate(arena, rows, columns);
  }

  /** The memory of a name, which all layers use one after the other. */
  Matrix shared(String name, int rows, int columns) {
    return shared.computeIfAbsent(name, n -> allocate(rows, columns));
  }

  /**
   * Activations (N, columns).
   *
   * @param gradient names the memory of the gradient; it may be that of the layer's input, which
   *     then becomes the other in place
   */
  Variable variable(int columns, String gradient) {
    return new Variable(allocate(rows(), columns), () -> shared(gradient, rows(), columns));
  }

  /** A learned tensor; null where the model has none of this name. */
  Variable learned(String name) {
    if (!weights.has(name)) {
      return null;
    }
    Parameter of = weights.parameter(name);
    return new Variable(
        Matrix.of(weights.values(of), of.rows(), of.columns()),
        () -> Matrix.of(weights.gradient(of), of.rows(), of.columns()));
  }

  void add(Part part, Runnable forward, Runnable backward) {
    layers.add(new Layer(part, forward, backward));
  }

  /**
   * {@code y = x W^T + b}, W being (outputs, inputs), and b where the model has one. {@code dW +=
   * dy^T x, dx = dy W}.
   *
   * @param addGradient whether dx is added to what layers behind this one have made of it
   * @param add whether the result is added to y, which then costs nothing more
   */
  void linear(Part part, String name, Variable x, boolean addGradient, Variable y, boolean add) {
    Variable weight = learned(name + ".weight");
    Variable bias = learned(name + ".bias");
    MatrixProduct product = arithmetic.product();
    add(
        part,
        () -> {
          product.multiply(x.values, false, weight.values, true, 1, add ? 1 : 0, y.values);
          if (bias != null) {
            y.values.add(bias.values);
          }
        },
        () -> {
          Matrix dy = y.gradient();
          product.multiply(dy, true, x.values, false, 1, 1, weight.gradient());
          float beta = addGradient ? 1 : 0;
          product.multiply(dy, false, weight.values, false, 1, beta, x.gradient());
        });
  }

  /** The same into activations of its own. */
  Variable linear(Part part, String name, Variable x, boolean addGradient, String gradient) {
    Variable y = variable(weights.parameter(name + ".weight").rows(), gradient);
    linear(part, name, x, addGradient, y, false);
    return y;
  }

  void forward() {
    for (int i = 0; i < layers.size(); i++) {
      times.switchTo(layers.get(i).part);
      layers.get(i).forward.run();
    }
    times.switchTo(Part.REST);
    past += continues ? sequence : 0;
  }

  void backward() {
    for (int i = layers.size() - 1; i >= 0; i--) {
      times.switchTo(layers.get(i).part);
      layers.get(i).backward.run();
    }
    times.switchTo(Part.REST);
  }

  /** Positions before those of the next pass, if it continues a sequence. */
  int past() {
    return past;
  }

  /** The next pass begins a new sequence. */
  void restart() {
    past = 0;
  }

  @Override
  public void close() {
    arena.close();
  }
}
