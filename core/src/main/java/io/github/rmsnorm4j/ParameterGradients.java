package io.github.rmsnorm4j;

import java.lang.reflect.Array;
import org.jspecify.annotations.Nullable;

/**
 * The arrays that take the gradients of gain and bias: {@code dgain_j = sum over rows of dy_j *
 * xh_j} and {@code dbias_j = sum over rows of dy_j}, where xh is the normalised row. For rows with
 * groups the arrays have the length of a row, or of a group if all groups share the parameter: then
 * the sums are over the groups of all rows. With gain and bias of samples the arrays have a row for
 * each sample, and the sums are over its rows. The sums are float32, or float64 for float64 rows;
 * an array of the other type takes them rounded or widened. They have the same bits on any number
 * of threads.
 *
 * <pre>{@code
 * norm.backward(dy, saved, dx, ParameterGradients.added(dgain, null));
 * }</pre>
 */
public final class ParameterGradients {
  /** For calls that want no gradient of a parameter. */
  static final ParameterGradients NONE = new ParameterGradients(null, null, false);

  private final @Nullable Object gain;
  private final @Nullable Object bias;
  private final boolean add;

  private ParameterGradients(@Nullable Object gain, @Nullable Object bias, boolean add) {
    this.gain = gain;
    this.bias = bias;
    this.add = add;
  }

  /**
   * {@return two arrays whose values the gradients replace}
   *
   * @param gain takes dgain, as many elements as the gain has; null if dgain is not wanted
   * @param bias takes dbias, as many elements as the bias has; null if dbias is not wanted
   */
  public static ParameterGradients assigned(float @Nullable [] gain, float @Nullable [] bias) {
    return new ParameterGradients(gain, bias, false);
  }

  /**
   * {@return two arrays to whose values the gradients are added, with one addition per element}
   *
   * @param gain takes dgain, as many elements as the gain has; null if dgain is not wanted
   * @param bias takes dbias, as many elements as the bias has; null if dbias is not wanted
   */
  public static ParameterGradients added(float @Nullable [] gain, float @Nullable [] bias) {
    return new ParameterGradients(gain, bias, true);
  }

  /**
   * {@return two arrays whose values the gradients replace}
   *
   * @param gain takes dgain, as many elements as the gain has; null if dgain is not wanted
   * @param bias takes dbias, as many elements as the bias has; null if dbias is not wanted
   */
  public static ParameterGradients assigned(double @Nullable [] gain, double @Nullable [] bias) {
    return new ParameterGradients(gain, bias, false);
  }

  /**
   * {@return two arrays to whose values the gradients are added, with one addition per element}
   *
   * @param gain takes dgain, as many elements as the gain has; null if dgain is not wanted
   * @param bias takes dbias, as many elements as the bias has; null if dbias is not wanted
   */
  public static ParameterGradients added(double @Nullable [] gain, double @Nullable [] bias) {
    return new ParameterGradients(gain, bias, true);
  }

  /** The elements of each array; 0 if there is none. */
  int length() {
    Object one = gain != null ? gain : bias;
    return one == null ? 0 : Array.getLength(one);
  }

  @Nullable Object gain() {
    return gain;
  }

  @Nullable Object bias() {
    return bias;
  }

  /**
   * Takes the sums of a sample, float[] or double[] as the arithmetic is; null if there are no
   * rows.
   *
   * @param at the element that the sums begin with
   * @param width elements of a sample, unless the arrays are shorter: groups may share sums
   */
  void take(@Nullable Object gainSum, @Nullable Object biasSum, int at, int sample, int width) {
    int n = Math.min(width, length());
    write(gainSum, at, gain, sample * n, n);
    write(biasSum, at, bias, sample * n, n);
  }

  private void write(@Nullable Object sum, int at, @Nullable Object into, int from, int n) {
    if (sum == null && add) {
      return; // Adding 0 would turn -0 into +0.
    }
    if (!add && sum != null && into != null && sum.getClass() == into.getClass()) {
      System.arraycopy(sum, at, into, from, n);
    } else if (into instanceof float[] floats) {
      for (int i = 0; i < n; i++) {
        float value = (float) value(sum, at + i);
        floats[from + i] = add ? floats[from + i] + value : value;
      }
    } else if (into instanceof double[] doubles) {
      for (int i = 0; i < n; i++) {
        double value = value(sum, at + i);
        doubles[from + i] = add ? doubles[from + i] + value : value;
      }
    }
  }

  private static double value(@Nullable Object sum, int i) {
    return switch (sum) {
      case null -> 0.0;
      case float[] floats -> floats[i];
      default -> ((double[]) sum)[i];
    };
  }
}
