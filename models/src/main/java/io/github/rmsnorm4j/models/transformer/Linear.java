package io.github.rmsnorm4j.models.transformer;

/**
 * {@code y = x W^T + b}, b where the model has one. W is (outputs, inputs), as most files have it.
 */
final class Linear {
  private final MatrixProduct product;
  private final Learned weight;

  /** Null where there is none; it has no backward pass. */
  private final Learned bias;

  Linear(Setup setup, String name) {
    product = setup.arithmetic().product();
    weight = setup.weights().learned(name + ".weight");
    bias = setup.weights().learnedOrNull(name + ".bias");
  }

  /**
   * x (N, inputs) to y (N, outputs).
   *
   * @param add whether the result is added to y, which then costs nothing more
   */
  void forward(Matrix x, Matrix y, boolean add) {
    product.multiply(x, false, weight.values, true, 1, add ? 1 : 0, y);
    if (bias != null) {
      y.addToRows(bias.values);
    }
  }

  /** {@code dW += dy^T x, dx = dy W}; dx is added to if asked for. */
  void backward(Matrix x, Matrix dy, Matrix dx, boolean add) {
    product.multiply(dy, true, x, false, 1, 1, weight.gradient());
    product.multiply(dy, false, weight.values, false, 1, add ? 1 : 0, dx);
  }
}
