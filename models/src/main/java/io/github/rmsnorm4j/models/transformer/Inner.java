package io.github.rmsnorm4j.models.transformer;

/** What a residual connection goes around: the attention or the MLP. */
interface Inner {
  /**
   * x (N, d) to y (N, d); x must stay as it is until the backward pass.
   *
   * @param add whether the result is added to y
   */
  void forward(Matrix x, Matrix y, boolean add);

  /**
   * dx from dy, and the gradients of the weights.
   *
   * @param x what the forward pass was given
   * @param dx may be dy
   * @param add whether the result is added to dx
   */
  void backward(Matrix x, Matrix dy, Matrix dx, boolean add, Scratch scratch);
}
