package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;

/** An MLP of two projections: {@code down(f(up(x)))}. It has no backward pass. */
final class PlainMlp implements Inner {
  private final MlpKind kind;
  private final Linear upProjection;
  private final Linear downProjection;

  /** (N, F). */
  private final Matrix hidden;

  PlainMlp(Setup setup, String name) {
    kind = setup.config().form().mlp();
    upProjection = new Linear(setup, name + ".up_proj");
    downProjection = new Linear(setup, name + ".down_proj");
    hidden = setup.allocate(setup.rows(), setup.config().mlpWidth());
  }

  @Override
  public void forward(Matrix x, Matrix y, boolean add) {
    upProjection.forward(x, hidden, false);
    Floats values = hidden.floats();
    long n = hidden.elements();
    for (long i = 0; i < n; i++) {
      values.set(i, (float) kind.of(values.get(i)));
    }
    downProjection.forward(hidden, y, add);
  }

  @Override
  public void backward(Matrix x, Matrix dy, Matrix dx, boolean add, Scratch scratch) {
    throw new IllegalStateException("an MLP with " + kind + " has no backward pass");
  }
}
