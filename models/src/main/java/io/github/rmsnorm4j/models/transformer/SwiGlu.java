package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;

/**
 * The MLP: {@code down(silu(gate(x)) * up(x))}, silu(g) being {@code g / (1 + e^-g)}. Shazeer, "GLU
 * Variants Improve Transformer", 2020.
 */
final class SwiGlu implements Inner {
  private final Linear gateProjection;
  private final Linear upProjection;
  private final Linear downProjection;

  /** (N, F) each. */
  private final Matrix gate;

  private final Matrix up;
  private final Matrix hidden;

  /** (N, F): 1 / (1 + e^-gate), kept as it costs more than all else here but the products. */
  private final Matrix sigmoid;

  SwiGlu(Setup setup, String name) {
    gateProjection = new Linear(setup, name + ".gate_proj");
    upProjection = new Linear(setup, name + ".up_proj");
    downProjection = new Linear(setup, name + ".down_proj");
    int width = setup.config().mlpWidth();
    gate = setup.allocate(setup.rows(), width);
    up = setup.allocate(setup.rows(), width);
    hidden = setup.allocate(setup.rows(), width);
    sigmoid = setup.allocate(setup.rows(), width);
  }

  @Override
  public void forward(Matrix x, Matrix y, boolean add) {
    gateProjection.forward(x, gate, false);
    upProjection.forward(x, up, false);
    combine();
    downProjection.forward(hidden, y, add);
  }

  private void combine() {
    Floats g = gate.floats();
    Floats u = up.floats();
    Floats s = sigmoid.floats();
    Floats y = hidden.floats();
    long n = hidden.elements();
    for (long i = 0; i < n; i++) {
      s.set(i, (float) (1 / (1 + Math.exp(-g.get(i)))));
      y.set(i, g.get(i) * s.get(i) * u.get(i));
    }
  }

  @Override
  public void backward(Matrix x, Matrix dy, Matrix dx, boolean add, Scratch scratch) {
    downProjection.backward(hidden, dy, scratch.dup, false);
    separate(scratch.dgate, scratch.dup);
    gateProjection.backward(x, scratch.dgate, dx, add);
    upProjection.backward(x, scratch.dup, dx, true);
  }

  /** From the gradient of hidden, in dup, those of gate and up. */
  private void separate(Matrix dgate, Matrix dup) {
    Floats g = gate.floats();
    Floats u = up.floats();
    Floats sig = sigmoid.floats();
    Floats dg = dgate.floats();
    Floats du = dup.floats();
    long n = hidden.elements();
    for (long i = 0; i < n; i++) {
      float d = du.get(i);
      float x = g.get(i);
      float s = sig.get(i);
      dg.set(i, d * u.get(i) * (s * (1 + x * (1 - s))));
      du.set(i, d * (x * s));
    }
  }
}
