package io.github.rmsnorm4j.cli.compare;

import io.github.rmsnorm4j.reference.Definitions;

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

  private static double[] doubles(float[] values) {
    double[] doubles = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      doubles[i] = values[i];
    }
    return doubles;
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
    double rstd = 1 / Math.sqrt(square + variant.epsilon());
    double product = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
      double normalised = (x[i] - mean) * rstd;
      product += dy[i] * gain[i] * normalised;
      sum += dy[i] * gain[i];
      gainGradient[i] = dy[i] * normalised;
    }
    double[] dx = new double[n];
    for (int i = 0; i < n; i++) {
      double normalised = (x[i] - mean) * rstd;
      dx[i] = (dy[i] * gain[i] - (rms ? 0 : sum / n) - normalised * product / n) * rstd;
    }
    return dx;
  }
}
