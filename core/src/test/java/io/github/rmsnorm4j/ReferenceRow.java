package io.github.rmsnorm4j;

import io.github.rmsnorm4j.reference.AddedResidual;
import io.github.rmsnorm4j.reference.Casts;
import io.github.rmsnorm4j.reference.Definitions;
import io.github.rmsnorm4j.reference.Gradients;
import java.util.Arrays;

/**
 * A row of one group with the gradient of its output, by the formulas of {@code reference} in
 * float64. Residual, z, dresidual, gain and bias are null where there is none.
 */
record ReferenceRow(
    Variant is,
    double[] x,
    double[] residual,
    double[] z,
    double[] dy,
    double[] dresidual,
    double[] gain,
    double[] bias) {
  private static final ElementType TYPE = ElementType.FLOAT64;

  /** Gradients of the row, and what it adds to those of gain and bias. */
  record Slopes(double[] dx, double[] dz, double[] dgain, double[] dbias) {}

  private static double[] product(double[] a, double[] b) {
    double[] product = a.clone();
    Arrays.setAll(product, i -> a[i] * b[i]);
    return product;
  }

  /** The row that is normalised. */
  private AddedResidual sum() {
    double[] in = is.gate() == Gate.SILU_BEFORE ? product(x, Definitions.gate(z, is.gate())) : x;
    return residual == null
        ? new AddedResidual(in, in, in)
        : AddedResidual.of(in, residual, TYPE, TYPE, is.rounding());
  }

  private double mean(AddedResidual row) {
    return is.centred() ? Definitions.mean(row.measured()) : 0;
  }

  private double root(AddedResidual row) {
    double m =
        is.centred()
            ? Definitions.variance(row.measured())
            : Definitions.meanSquare(row.measured(), is.part()) * is.part() / is.count();
    return Definitions.root(m, is.epsilon(), is.placement());
  }

  /** The norm, before a gate after it. */
  private double[] normalised(AddedResidual sum) {
    double[] h = sum.normalised();
    double root = root(sum);
    double[] g = Definitions.offsetGain(gain, is.gainOffset());
    return switch (is.order()) {
      case FLOAT32, DIVIDED, GAIN_FIRST -> Definitions.output(h, mean(sum), root, g, bias);
      case ROUNDED_ROOT, NONE -> Casts.roundedRoot(h, 1 / root, TYPE, g);
      case LLAMA -> Casts.llama(h, 1 / root, TYPE, g);
      case T5 -> Casts.t5(h, 1 / root, TYPE, g);
      case ONNX, NONE_DIVIDED -> Casts.onnx(h, root, TYPE, g);
    };
  }

  /** What the gradients are of: the sum of y * dy and of the new residual * dresidual. */
  double loss() {
    AddedResidual sum = sum();
    double[] norm = normalised(sum);
    double[] y = is.gate().isAfter() ? product(norm, Definitions.gate(z, is.gate())) : norm;
    double loss = 0;
    for (int i = 0; i < x.length; i++) {
      loss += y[i] * dy[i];
      loss += dresidual == null ? 0 : sum.stored()[i] * dresidual[i];
    }
    return loss;
  }

  Slopes slopes() {
    boolean after = is.gate().isAfter();
    double[] factors = is.gate() == Gate.NONE ? null : Definitions.gate(z, is.gate());
    AddedResidual sum = sum();
    double[] h = sum.normalised();
    double[] slope = after ? product(dy, factors) : dy;
    double[] ofNorm = ofNorm(h, slope);
    double[] dx = is.gate() == Gate.SILU_BEFORE ? product(ofNorm, factors) : ofNorm.clone();
    for (int i = 0; i < dx.length && dresidual != null; i++) {
      dx[i] += dresidual[i];
    }
    double[] dz = null;
    if (factors != null) {
      double[] ofFactors = after ? product(dy, normalised(sum)) : product(ofNorm, x);
      dz = product(ofFactors, Gradients.gate(z, is.gate()));
    }
    return new Slopes(dx, dz, Gradients.gain(h, slope, mean(sum), root(sum)), slope);
  }

  private double[] ofNorm(double[] h, double[] slope) {
    double[] g = Definitions.offsetGain(gain, is.gainOffset());
    return is.centred()
        ? Gradients.layerNorm(h, slope, g, is.epsilon(), is.placement())
        : is.spec().isOfLength()
            ? Gradients.l2Norm(h, slope, g, is.epsilon(), is.placement())
            : Gradients.rmsNorm(h, slope, g, is.part(), is.epsilon(), is.placement());
  }
}
