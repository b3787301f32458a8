package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.reference.Definitions;
import io.github.rmsnorm4j.reference.Gradients;
import java.util.stream.IntStream;

/** What is right, in float64. */
final class Exact {
  private final Variant variant;
  private final double[] gain;
  private final double[] bias;

  Exact(Variant variant, float[] gain, float[] bias) {
    this.variant = variant;
    this.gain = doubles(gain);
    this.bias = doubles(bias);
  }

  static double[] doubles(float[] values) {
    return IntStream.range(0, values.length).mapToDouble(i -> values[i]).toArray();
  }

  double[] forward(double[] x) {
    return variant.isRms()
        ? Definitions.rmsNorm(x, gain, null, variant.epsilon())
        : Definitions.layerNorm(x, gain, bias, variant.epsilon());
  }

  /** The gradient of a row, and its part in those of the gain. */
  double[] backward(double[] x, double[] dy, double[] gainGradient) {
    int n = x.length;
    boolean rms = variant.isRms();
    double mean = rms ? 0 : Definitions.mean(x);
    double square = rms ? Definitions.meanSquare(x, n) : Definitions.variance(x);
    double[] share = Gradients.gain(x, dy, mean, Math.sqrt(square + variant.epsilon()));
    System.arraycopy(share, 0, gainGradient, 0, n);
    return rms
        ? Gradients.rmsNorm(x, dy, gain, n, variant.epsilon(), EpsilonPlacement.INSIDE)
        : Gradients.layerNorm(x, dy, gain, variant.epsilon(), EpsilonPlacement.INSIDE);
  }
}
