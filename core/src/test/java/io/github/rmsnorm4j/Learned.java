package io.github.rmsnorm4j;

import java.util.stream.IntStream;

/**
 * The gradient of a parameter: float[] or double[], what was in it before, and whether a backward
 * pass adds to that.
 */
record Learned(boolean wide, boolean added, double[] before) {
  Object array() {
    if (wide) {
      return before.clone();
    }
    float[] floats = new float[before.length];
    IntStream.range(0, floats.length).forEach(i -> floats[i] = (float) before[i]);
    return floats;
  }

  /** With the sum over so many rows; without rows there is nothing to add. */
  double after(int i, double sum, int rows) {
    if (added && rows == 0) {
      return before[i];
    }
    double value = wide ? sum : (float) sum;
    double total = added ? before[i] + value : value;
    return wide ? total : (float) total;
  }

  static String text(Learned learned) {
    return learned == null
        ? "none"
        : (learned.wide ? "float64" : "float32") + (learned.added ? " added" : " assigned");
  }

  static Object array(Learned learned) {
    return learned == null ? null : learned.array();
  }

  /** How a backward pass is told; null where neither is wanted. */
  static ParameterGradients gradients(Learned dgain, Object gain, Learned dbias, Object bias) {
    Learned one = dgain != null ? dgain : dbias;
    if (one == null) {
      return null;
    }
    if (one.wide) {
      double[] g = (double[]) gain;
      double[] b = (double[]) bias;
      return one.added ? ParameterGradients.added(g, b) : ParameterGradients.assigned(g, b);
    }
    float[] g = (float[]) gain;
    float[] b = (float[]) bias;
    return one.added ? ParameterGradients.added(g, b) : ParameterGradients.assigned(g, b);
  }
}
