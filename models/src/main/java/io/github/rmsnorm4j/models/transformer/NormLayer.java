package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.transformer.StepTimes.Part;
import java.lang.foreign.MemorySegment;

/**
 * The library's norms in a model. A row goes into a norm and comes out of it as float32, or rounded
 * to 16 bits; all else in a model is float32.
 */
final class NormLayer {
  private NormLayer() {}

  /**
   * Puts {@code y = norm(x)} on the tape; x must stay as it is until the backward pass. Gain and
   * bias are rows of the model's weights: each call reads them there, as they change with each
   * step.
   *
   * @param width of the rows, of which x may have several side by side
   * @param gradient names the memory of dy
   * @param addGradient whether the gradient of x is added to what layers behind have made of it
   * @return y
   */
  static Variable add(
      Tape tape,
      NormSpec spec,
      int width,
      String name,
      Variable x,
      String gradient,
      boolean addGradient) {
    Variable y = tape.variable(x.values.columns, gradient);
    Variable gain = tape.learned(name + ".weight");
    Variable bias = tape.learned(name + ".bias");
    Rows biasRow = bias == null ? null : bias.values.asRows(width);
    Norm norm =
        spec.builder(width)
            .threads(tape.threads)
            .backend(tape.arithmetic.backend())
            .build()
            .withParameters(gain.values.asRows(width), biasRow);
    Saved saved = new Saved(Keep.INPUT, Math.toIntExact(x.values.elements() / width));
    float[] gainSum = new float[width];
    float[] biasSum = bias == null ? null : new float[width];
    ParameterGradients sums = ParameterGradients.assigned(gainSum, biasSum);
    tape.add(
        Part.NORM,
        forward(tape, norm, width, x.values, y.values, saved),
        () -> {
          Rows dx = x.gradient().asRows(width);
          Rows dy = y.gradient().asRows(width);
          if (addGradient) {
            norm.backward(dy, saved, dx, dx, sums);
          } else {
            norm.backward(dy, saved, dx, sums);
          }
          gain.gradient().add(gainSum);
          if (bias != null) {
            bias.gradient().add(biasSum);
          }
        });
    return y;
  }

  private static Runnable forward(
      Tape tape, Norm norm, int width, Matrix x, Matrix y, Saved saved) {
    if (!tape.arithmetic.narrowsRows()) {
      return () -> norm.apply(x.asRows(width), y.asRows(width), saved);
    }
    ElementType type = tape.arithmetic.normRows();
    MemorySegment memory = tape.arena.allocate(x.elements() * Short.BYTES, Short.BYTES);
    Rows rows = Rows.of(memory, type, Math.toIntExact(x.elements() / width), width);
    return () -> {
      round(x, type, memory);
      norm.apply(rows, rows);
      widen(memory, type, y);
    };
  }

  /** To nearest, ties to even. */
  static void round(Matrix from, ElementType type, MemorySegment to) {
    Floats values = from.floats();
    long n = from.elements();
    for (long i = 0; i < n; i++) {
      type.set(to, i, values.get(i));
    }
  }

  /** Which is exact. */
  static void widen(MemorySegment from, ElementType type, Matrix to) {
    Floats values = to.floats();
    long n = to.elements();
    for (long i = 0; i < n; i++) {
      values.set(i, (float) type.get(from, i));
    }
  }
}
