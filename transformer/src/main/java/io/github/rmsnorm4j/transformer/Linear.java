package io.github.rmsnorm4j.transformer;

/** {@code y = x W^T}: a projection without bias. W is (outputs, inputs), as files have it. */
final class Linear {
  private final MatrixProduct product;
  private final Matrix weight;
  private final Matrix gradient;

  Linear(Setup setup, String name) {
    product = setup.arithmetic().product();
    Weights weights = setup.weights();
    weight = weights.matrix(name + ".weight");
    gradient = weights.gradientMatrix(name + ".weight");
  }

  /**
   * x (N, inputs) to y (N, outputs).
   *
   * @param add whether the result is added to y, which then costs nothing more
   */
  void forward(Matrix x, Matrix y, boolean add) {
    product.multiply(x, false, weight, true, 1, add ? 1 : 0, y);
  }

  /** {@code dW += dy^T x, dx = dy W}; dx is added to if asked for. */
  void backward(Matrix x, Matrix dy, Matrix dx, boolean add) {
    product.multiply(dy, true, x, false, 1, 1, gradient);
    product.multiply(dy, false, weight, false, 1, add ? 1 : 0, dx);
  }
}
