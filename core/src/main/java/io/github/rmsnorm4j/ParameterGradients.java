package io.github.rmsnorm4j;

/**
 * The arrays that take the gradients of gain and bias: {@code dgain_j = sum over rows of dy_j *
 * xh_j} and {@code dbias_j = sum over rows of dy_j}, where xh is the normalised row. The sums are
 * float32, or float64 for float64 rows. They have the same bits on any number of threads.
 *
 * <pre>{@code
 * norm.backward(dy, saved, dx, ParameterGradients.added(dgain, null));
 * }</pre>
 */
public final class ParameterGradients {
  /** For calls that want no gradient of a parameter. */
  static final ParameterGradients NONE = new ParameterGradients(null, null, false);

  private final Object gain;
  private final Object bias;
  private final boolean add;

  private ParameterGradients(Object gain, Object bias, boolean add) {
    this.gain = gain;
    this.bias = bias;
    this.add = add;
  }

  /**
   * {@return two arrays whose values the gradients replace}
   *
   * @param gain takes dgain, one element per element of a row; null if dgain is not wanted
   * @param bias takes dbias, one element per element of a row; null if dbias is not wanted
   */
  public static ParameterGradients assigned(float[] gain, float[] bias) {
    return new ParameterGradients(gain, bias, false);
  }

  /**
   * {@return two arrays to whose values the gradients are added, with one addition per element}
   *
   * @param gain takes dgain, one element per element of a row; null if dgain is not wanted
   * @param bias takes dbias, one element per element of a row; null if dbias is not wanted
   */
  public static ParameterGradients added(float[] gain, float[] bias) {
    return new ParameterGradients(gain, bias, true);
  }

  /**
   * {@return two arrays whose values the gradients replace}
   *
   * @param gain takes dgain, one element per element of a row; null if dgain is not wanted
   * @param bias takes dbias, one element per element of a row; null if dbias is not wanted
   */
  public static ParameterGradients assigned(double[] gain, double[] bias) {
    return new ParameterGradients(gain, bias, false);
  }

  /**
   * {@return two arrays to whose values the gradients are added, with one addition per element}
   *
   * @param gain takes dgain, one element per element of a row; null if dgain is not wanted
   * @param bias takes dbias, one element per element of a row; null if dbias is not wanted
   */
  public static ParameterGradients added(double[] gain, double[] bias) {
    return new ParameterGradients(gain, bias, true);
  }

  Object gain() {
    return gain;
  }

  Object bias() {
    return bias;
  }

  /** Takes the sums, float[] or double[] as the arithmetic is; null if there are no rows. */
  void take(Object gainSum, Object biasSum) {
    write(gainSum, gain);
    write(biasSum, bias);
  }

  private void write(Object sum, Object into) {
    if (sum == null && add) {
      return; // Adding 0 would turn -0 into +0.
    }
    if (into instanceof float[] floats) {
      for (int i = 0; i < floats.length; i++) {
        floats[i] = add ? floats[i] + (float) value(sum, i) : (float) value(sum, i);
      }
    } else if (into instanceof double[] doubles) {
      for (int i = 0; i < doubles.length; i++) {
        doubles[i] = add ? doubles[i] + value(sum, i) : value(sum, i);
      }
    }
  }

  private static double value(Object sum, int i) {
    return switch (sum) {
      case null -> 0.0;
      case float[] floats -> floats[i];
      default -> ((double[]) sum)[i];
    };
  }
}
