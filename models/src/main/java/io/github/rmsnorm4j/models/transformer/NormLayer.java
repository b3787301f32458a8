package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.models.transformer.StepTimes.Part;

/**
 * One of the library's norms at its place in the model: {@code y = norm(x)}, also with a gate, or
 * added to the residual stream. Gain and bias are rows of the model's weights: each call reads them
 * there, as they change with each step.
 */
final class NormLayer {
  /**
   * The largest stream, in bytes, of which {@link #forwardAndAdd} takes a copy to add to, because
   * the stream must stay for the backward pass. On a Zen 5 one call took less time than three up to
   * 2 MiB, and more from 8 MiB on: a larger copy has left the cache before the call reads it.
   */
  private static final long MOST_COPIED = 2 << 20;

  private final Tape tape;
  private final int width;
  private final Norm norm;
  private final Variable x;
  private final Variable y;
  private final NarrowRows input;
  private final NarrowRows output;
  private final Saved saved;
  private final Variable gain;

  /** Null where there is no bias. */
  private final Variable bias;

  private final float[] gainSum;
  private final float[] biasSum;
  private final ParameterGradients sums;

  /** The norm of the sum that this one is added to, if one call does both. */
  private NormLayer next;

  /** Whether the norm before this one writes y. */
  boolean joined;

  /**
   * A norm of rows of a width, of which x may have several side by side.
   *
   * @param gradient names the memory of dy
   */
  NormLayer(Tape tape, NormSpec spec, int width, String name, Variable x, String gradient) {
    this.tape = tape;
    this.width = width;
    this.x = x;
    y = tape.variable(x.values.columns, gradient);
    gain = tape.learned(name + ".weight");
    bias = tape.learned(name + ".bias");
    norm =
        spec.builder(width)
            .threads(tape.threads)
            .backend(tape.arithmetic.backend())
            .build()
            .withParameters(
                gain.values.asRows(width), bias == null ? null : bias.values.asRows(width));
    input = new NarrowRows(tape, x.values, width);
    output = new NarrowRows(tape, y.values, width);
    saved = new Saved(Keep.INPUT, Math.toIntExact(input.rows.rows()));
    gainSum = new float[width];
    biasSum = bias == null ? null : new float[width];
    sums = ParameterGradients.assigned(gainSum, biasSum);
  }

  /**
   * Puts {@code y = norm(x)} on the tape; x must stay as it is until the backward pass.
   *
   * @param addGradient whether the gradient of x is added to what layers behind have made of it
   * @return y
   */
  Variable add(boolean addGradient) {
    tape.add(Part.NORM, this::forward, () -> backward(addGradient));
    return y;
  }

  /** Puts {@code y = norm(x) * silu(z)} on the tape, or as the gate says; dz may be dy. */
  Variable addGated(Variable z) {
    NarrowRows gate = new NarrowRows(tape, z.values, width);
    tape.add(
        Part.NORM,
        () -> {
          norm.applyGated(input.rounded(), gate.rounded(), output.rows, saved);
          output.widen();
        },
        () -> {
          Rows dz = z.gradient().asRows(width);
          norm.backwardGated(dy(), saved, x.gradient().asRows(width), dz, sums);
          addSums();
        });
    return y;
  }

  /** Puts {@code y = stream + norm(x)} on the tape. The gradient of y is that of the stream. */
  Variable addTo(Variable stream) {
    tape.add(Part.NORM, () -> forwardAndAdd(stream.values), () -> backward(false));
    return y;
  }

  /** Lets one call do this norm, its addition and the norm of the sum, if it takes less time. */
  void join(NormLayer norm) {
    boolean small = y.values.elements() * Float.BYTES <= MOST_COPIED;
    if (small && !tape.arithmetic.narrowsRows()) {
      next = norm;
      norm.joined = true;
    }
  }

  private void forward() {
    if (!joined) {
      norm.apply(input.rounded(), output.rows, saved);
      output.widen();
    }
  }

  private void forwardAndAdd(Matrix stream) {
    if (next == null) {
      forward();
      tape.times.switchTo(Part.REST);
      y.values.add(stream);
    } else {
      tape.times.switchTo(Part.REST);
      y.values.copyFrom(stream);
      tape.times.switchTo(Part.NORM);
      norm.applyAndAdd(input.rows, output.rows, next.norm, next.output.rows, saved, next.saved);
    }
  }

  private void backward(boolean addGradient) {
    Rows dx = x.gradient().asRows(width);
    if (addGradient) {
      norm.backward(dy(), saved, dx, dx, sums);
    } else {
      norm.backward(dy(), saved, dx, sums);
    }
    addSums();
  }

  private Rows dy() {
    return y.gradient().asRows(width);
  }

  private void addSums() {
    gain.gradient().add(gainSum);
    if (bias != null) {
      bias.gradient().add(biasSum);
    }
  }
}
