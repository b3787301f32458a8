package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.models.transformer.StepTimes.Part;

/** The library's norms in a model. */
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
    NarrowRows input = new NarrowRows(tape, x.values, width);
    NarrowRows output = new NarrowRows(tape, y.values, width);
    Saved saved = new Saved(Keep.INPUT, Math.toIntExact(input.rows.rows()));
    float[] gainSum = new float[width];
    float[] biasSum = bias == null ? null : new float[width];
    ParameterGradients sums = ParameterGradients.assigned(gainSum, biasSum);
    tape.add(
        Part.NORM,
        () -> {
          norm.apply(input.rounded(), output.rows, saved);
          output.widen();
        },
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
}
