package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.reference.Definitions;
import io.github.rmsnorm4j.reference.Gradients;

/** The two norms, with the parameters that models give them: a gain, and for LayerNorm a bias. */
public enum Kernel {
  /** With a gain. */
  RMS_NORM("RMSNorm", NormSpec.RMSNORM),
  /** With a gain and a bias. */
  LAYER_NORM("LayerNorm", NormSpec.LAYERNORM);

  private final String title;
  private final NormSpec spec;

  Kernel(String title, NormSpec spec) {
    this.title = title;
    this.spec = spec;
  }

  /** {@return the norm's choices: the defaults of its kind} */
  public NormSpec spec() {
    return spec;
  }

  /** A norm that stays on the caller's thread. */
  Norm norm(double[] gain, double[] bias, Backend backend) {
    NormBuilder<?> builder = spec.builder(gain.length).gain(gain).threads(1).backend(backend);
    if (hasBias()) {
      builder.bias(bias);
    }
    return builder.build();
  }

  /** {@return whether it has a bias, as LayerNorm has} */
  public boolean hasBias() {
    return this == LAYER_NORM;
  }

  double[] reference(double[] x, double[] gain, double[] bias) {
    return reference(x, gain, bias, spec.epsilon().getAsDouble());
  }

  /**
   * {@return the output in float64 of the norm by its definition}
   *
   * @param x a row
   * @param gain its gain
   * @param bias its bias, not read without one
   * @param epsilon inside the root
   */
  public double[] reference(double[] x, double[] gain, double[] bias, double epsilon) {
    return hasBias()
        ? Definitions.layerNorm(x, gain, bias, epsilon)
        : Definitions.rmsNorm(x, gain, null, epsilon);
  }

  /**
   * The gradient of a row by its definition. The row's share of the gradients of gain and bias is
   * added to theirs.
   *
   * @param x a row
   * @param dy the gradient of the output
   * @param gain the row's gain
   * @param epsilon inside the root
   * @param dgain the gradient of the gain
   * @param dbias the gradient of the bias
   * @return dx in float64
   */
  public double[] gradient(
      double[] x, double[] dy, double[] gain, double epsilon, double[] dgain, double[] dbias) {
    double mean = hasBias() ? Definitions.mean(x) : 0;
    double square = hasBias() ? Definitions.variance(x) : Definitions.meanSquare(x, x.length);
    double[] share = Gradients.gain(x, dy, mean, Math.sqrt(square + epsilon));
    for (int i = 0; i < x.length; i++) {
      dgain[i] += share[i];
      dbias[i] += dy[i];
    }
    return hasBias()
        ? Gradients.layerNorm(x, dy, gain, epsilon, EpsilonPlacement.INSIDE)
        : Gradients.rmsNorm(x, dy, gain, x.length, epsilon, EpsilonPlacement.INSIDE);
  }

  /**
   * {@return how far an element may be away from the exact answer, in float32 roundings: the
   * contract's R, which docs/numerics.md derives, without the rounding that a bias adds}
   *
   * @param width elements of a row, at most 2^28
   */
  public double roundings(int width) {
    if (this == RMS_NORM) {
      return 3.01;
    }
    return width > 1 << 15 && width <= 1 << 20 ? 5.35 : 5.01;
  }

  @Override
  public String toString() {
    return title;
  }
}
