package io.github.rmsnorm4j.models.families;

import java.util.function.DoubleUnaryOperator;

/** Arithmetic on rows in float64, as plain loops: a row for each position of a sequence. */
final class Rows {
  private Rows() {}

  /** {@code x W^T + b}, with the matrix stored as (outputs, inputs). */
  static double[][] linear(double[][] x, Values matrix, double[] bias) {
    double[][] y = new double[x.length][matrix.rows()];
    for (int t = 0; t < x.length; t++) {
      if (x[t].length != matrix.columns()) {
        throw new IllegalArgumentException(x[t].length + " inputs for " + matrix.shape());
      }
      for (int o = 0; o < matrix.rows(); o++) {
        double sum = bias == null ? 0 : bias[o];
        for (int i = 0; i < matrix.columns(); i++) {
          sum += matrix.at(o, i) * x[t][i];
        }
        y[t][o] = sum;
      }
    }
    return y;
  }

  /** {@code x W + b}, with the matrix stored as (inputs, outputs), as GPT-2 has it. */
  static double[][] conv1d(double[][] x, Values matrix, double[] bias) {
    double[][] y = new double[x.length][matrix.columns()];
    for (int t = 0; t < x.length; t++) {
      for (int o = 0; o < matrix.columns(); o++) {
        y[t][o] = bias[o];
        for (int i = 0; i < matrix.rows(); i++) {
          y[t][o] += x[t][i] * matrix.at(i, o);
        }
      }
    }
    return y;
  }

  /** RMSNorm, with {@code offset + gain} in place of the gain; a bias may be null. */
  static double[][] rmsNorm(
      double[][] x, double[] gain, double offset, double[] bias, double epsilon) {
    double[][] y = new double[x.length][];
    for (int t = 0; t < x.length; t++) {
      double squares = 0;
      for (double element : x[t]) {
        squares += element * element;
      }
      y[t] = scaled(x[t], 0, Math.sqrt(squares / x[t].length + epsilon), gain, offset, bias);
    }
    return y;
  }

  static double[][] layerNorm(double[][] x, double[] gain, double[] bias, double epsilon) {
    double[][] y = new double[x.length][];
    for (int t = 0; t < x.length; t++) {
      double mean = 0;
      for (double element : x[t]) {
        mean += element / x[t].length;
      }
      double variance = 0;
      for (double element : x[t]) {
        variance += (element - mean) * (element - mean) / x[t].length;
      }
      y[t] = scaled(x[t], mean, Math.sqrt(variance + epsilon), gain, 0, bias);
    }
    return y;
  }

  private static double[] scaled(
      double[] x, double mean, double deviation, double[] gain, double offset, double[] bias) {
    if (gain.length != x.length) {
      throw new IllegalArgumentException(gain.length + " gains for a width of " + x.length);
    }
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      y[i] = (x[i] - mean) / deviation * (offset + gain[i]) + (bias == null ? 0 : bias[i]);
    }
    return y;
  }

  static double[][] sum(double[][] a, double[][] b) {
    double[][] y = new double[a.length][a[0].length];
    for (int t = 0; t < a.length; t++) {
      for (int i = 0; i < y[t].length; i++) {
        y[t][i] = a[t][i] + b[t][i];
      }
    }
    return y;
  }

  static double[][] product(double[][] a, double[][] b) {
    double[][] y = new double[a.length][a[0].length];
    for (int t = 0; t < a.length; t++) {
      for (int i = 0; i < y[t].length; i++) {
        y[t][i] = a[t][i] * b[t][i];
      }
    }
    return y;
  }

  static double[][] map(double[][] x, DoubleUnaryOperator function) {
    double[][] y = new double[x.length][x[0].length];
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < y[t].length; i++) {
        y[t][i] = function.applyAsDouble(x[t][i]);
      }
    }
    return y;
  }

  /** Columns {@code from} to {@code from + count}. */
  static double[][] columns(double[][] x, int from, int count) {
    double[][] y = new double[x.length][count];
    for (int t = 0; t < x.length; t++) {
      System.arraycopy(x[t], from, y[t], 0, count);
    }
    return y;
  }

  /** Rows of an embedding. */
  static double[][] embed(Values embedding, int[] ids) {
    double[][] x = new double[ids.length][];
    for (int t = 0; t < ids.length; t++) {
      x[t] = embedding.row(ids[t]);
    }
    return x;
  }

  static double[][] swish(double[][] x) {
    return map(x, v -> v / (1 + Math.exp(-v)));
  }

  static double[][] relu(double[][] x) {
    return map(x, v -> Math.max(v, 0));
  }

  /** GELU by the tanh formula: {@code gelu_new}, {@code gelu_pytorch_tanh}. */
  static double[][] geluTanh(double[][] x) {
    double root = Math.sqrt(2 / Math.PI);
    return map(x, v -> v / 2 * (1 + Math.tanh(root * (v + 0.044715 * v * v * v))));
  }

  /** GELU by the error function. */
  static double[][] gelu(double[][] x) {
    return map(x, v -> v / 2 * (1 + erf(v / Math.sqrt(2))));
  }

  /** The error function, by the series of {@code e^(-x^2)} times terms that are all positive. */
  static double erf(double x) {
    if (Math.abs(x) > 6) {
      return Math.signum(x);
    }
    double term = x;
    double sum = x;
    for (int n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
      term *= 2 * x * x / (2 * n + 1);
      sum += term;
    }
    return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
  }
}
