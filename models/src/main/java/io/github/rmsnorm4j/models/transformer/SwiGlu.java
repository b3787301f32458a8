package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.transformer.StepTimes.Part;

/**
 * What a gated MLP has between its projections: {@code silu(gate) * up}, silu(g) being {@code g /
 * (1 + e^-g)}. Shazeer, "GLU Variants Improve Transformer", 2020.
 *
 * @param gate (N, F), as all of them
 * @param hidden takes the product; its gradient and that of up have the same memory
 * @param sigmoid 1 / (1 + e^-gate), kept as it costs more than all else here but the products
 */
record SwiGlu(Variable gate, Variable up, Variable hidden, Matrix sigmoid) {
  static void add(Tape tape, Variable gate, Variable up, Variable hidden) {
    Matrix sigmoid = tape.allocate(tape.rows(), tape.config.mlpWidth());
    SwiGlu layer = new SwiGlu(gate, up, hidden, sigmoid);
    tape.add(Part.MLP, layer::forward, layer::backward);
  }

  private void forward() {
    Floats g = gate.values.floats();
    Floats u = up.values.floats();
    Floats s = sigmoid.floats();
    Floats y = hidden.values.floats();
    long n = sigmoid.elements();
    for (long i = 0; i < n; i++) {
      s.set(i, (float) (1 / (1 + Math.exp(-g.get(i)))));
      y.set(i, g.get(i) * s.get(i) * u.get(i));
    }
  }

  private void backward() {
    Floats g = gate.values.floats();
    Floats u = up.values.floats();
    Floats sig = sigmoid.floats();
    Floats dg = gate.gradient().floats();
    Floats du = up.gradient().floats();
    long n = sigmoid.elements();
    for (long i = 0; i < n; i++) {
      float d = du.get(i);
      float x = g.get(i);
      float s = sig.get(i);
      dg.set(i, d * u.get(i) * (s * (1 + x * (1 - s))));
      du.set(i, d * (x * s));
    }
  }
}
