package io.github.rmsnorm4j.reference;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * RMSNorm and LayerNorm of one row, as their papers define them, and their steps: a statistic, a
 * root with epsilon, and the output.
 */
public final class Definitions {
  private Definitions() {}

  /**
   * {@return the row normalised by RMSNorm (Zhang and Sennrich 2019, formula 4), with epsilon
   * inside the root: {@code y_i = x_i / sqrt(mean(x^2) + eps) * g_i + b_i}}
   *
   * @param x the row
   * @param gain one factor per element, or null for none
   * @param bias one term per element, or null for none
   * @param epsilon added to the mean square
   */
  public static double[] rmsNorm(
      double[] x, double @Nullable [] gain, double @Nullable [] bias, double epsilon) {
    double root = root(meanSquare(x, x.length), epsilon, EpsilonPlacement.INSIDE);
    return output(x, 0, root, gain, bias);
  }

  /**
   * {@return the row normalised by LayerNorm (Ba, Kiros and Hinton 2016), with the population
   * variance and epsilon inside the root: {@code y_i = (x_i - mean(x)) / sqrt(var(x) + eps) * g_i +
   * b_i}}
   *
   * @param x the row
   * @param gain one factor per element, or null for none
   * @param bias one term per element, or null for none
   * @param epsilon added to the variance
   */
  public static double[] layerNorm(
      double[] x, double @Nullable [] gain, double @Nullable [] bias, double epsilon) {
    double root = root(variance(x), epsilon, EpsilonPlacement.INSIDE);
    return output(x, mean(x), root, gain, bias);
  }

  /**
   * {@return the row normalised by the L2 norm of torch.nn.functional.normalize: {@code y_i = x_i /
   * max(sqrt(x_1^2 + ... + x_n^2), eps) * g_i + b_i}}
   *
   * @param x the row
   * @param gain one factor per element, or null for none
   * @param bias one term per element, or null for none
   * @param epsilon the least number that a row is divided by; with 0 a row of zeros is multiplied
   *     by 0
   */
  public static double[] l2Norm(
      double[] x, double @Nullable [] gain, double @Nullable [] bias, double epsilon) {
    double root = root(meanSquare(x, x.length) * x.length, epsilon, EpsilonPlacement.FLOOR);
    boolean leaves = epsilon == 0 && Arrays.stream(x).allMatch(v -> v == 0);
    return output(x, 0, leaves ? Double.POSITIVE_INFINITY : root, gain, bias);
  }

  /**
   * {@return the mean square of the first k elements, {@code (x_1^2 + ... + x_k^2) / k}} With k
   * below the width it is the mean square of partial RMSNorm (section 4 of the paper).
   *
   * @param x the row
   * @param k the number of elements
   */
  public static double meanSquare(double[] x, int k) {
    double sum = 0;
    for (int i = 0; i < k; i++) {
      sum += x[i] * x[i];
    }
    return sum / k;
  }

  /**
   * {@return the k of partial RMSNorm in the paper: {@code ceil(n * p)}, where p is the decimal
   * number that was written}
   *
   * @param n the width
   * @param p above 0, at most 1
   */
  public static int part(int n, double p) {
    BigDecimal share = new BigDecimal(Double.toString(p)).multiply(new BigDecimal(n));
    return share.setScale(0, RoundingMode.CEILING).intValue();
  }

  /**
   * {@return the k of partial RMSNorm in the code published with the paper: {@code int(n * p)}, in
   * float64}
   *
   * @param n the width
   * @param p above 0, at most 1
   */
  public static int partOfPublishedCode(int n, double p) {
    return (int) Math.floor(n * p);
  }

  /**
   * {@return the mean, {@code (x_1 + ... + x_n) / n}}
   *
   * @param x the row
   */
  public static double mean(double[] x) {
    double sum = 0;
    for (double v : x) {
      sum += v;
    }
    return sum / x.length;
  }

  /**
   * {@return the variance of the population: the mean of {@code (x_i - mean)^2}}
   *
   * @param x the row
   */
  public static double variance(double[] x) {
    double mean = mean(x);
    double squares = 0;
    for (double v : x) {
      squares += (v - mean) * (v - mean);
    }
    return squares / x.length;
  }

  /**
   * {@return the root, the number by which a row is divided: {@code sqrt(m + eps)}, {@code sqrt(m)
   * + eps} or {@code max(sqrt(m), eps)}}
   *
   * @param m mean square or variance
   * @param epsilon not negative
   * @param placement which of the three
   */
  public static double root(double m, double epsilon, EpsilonPlacement placement) {
    return switch (placement) {
      case INSIDE -> Math.sqrt(m + epsilon);
      case OUTSIDE -> Math.sqrt(m) + epsilon;
      case FLOOR -> Math.max(Math.sqrt(m), epsilon);
    };
  }

  /**
   * {@return the normalised row, {@code y_i = (x_i - mean) / root * g_i + b_i}}
   *
   * @param x the row
   * @param mean 0 for RMSNorm
   * @param root the number by which the row is divided
   * @param gain one factor per element, or null for none
   * @param bias one term per element, or null for none
   */
  public static double[] output(
      double[] x, double mean, double root, double @Nullable [] gain, double @Nullable [] bias) {
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      double normalised = (x[i] - mean) / root;
      y[i] = normalised * (gain == null ? 1 : gain[i]) + (bias == null ? 0 : bias[i]);
    }
    return y;
  }

  /**
   * {@return what a gate multiplies by, the activation of each z} It is {@code silu(z) = z / (1 +
   * exp(-z))} (Elfwing, Uchibe and Doya 2017), or {@code sigmoid(z) = 1 / (1 + exp(-z))}. The gate
   * multiplies the output (Qwen3-Next, Kimi's KDA) or the input of the norm (Mamba-2, Dao and Gu
   * 2024).
   *
   * @param z the row of the gate
   * @param gate not NONE
   */
  public static double[] gate(double[] z, Gate gate) {
    double[] factors = new double[z.length];
    for (int i = 0; i < z.length; i++) {
      factors[i] = (gate == Gate.SIGMOID ? 1 : z[i]) / (1 + Math.exp(-z[i]));
    }
    return factors;
  }

  /**
   * {@return one of the groups of a row} Groups have the same number of elements and lie one after
   * the other. A norm of groups takes each as a row: it has a statistic of its own. A gain or a
   * bias of the whole row has a part for each group, too.
   *
   * @param row a row, or the gain or bias of a row
   * @param groups how many groups it has, a number that divides the width
   * @param group which one, from 0
   */
  public static double[] group(double[] row, int groups, int group) {
    int n = row.length / groups;
    return Arrays.copyOfRange(row, group * n, (group + 1) * n);
  }

  /**
   * {@return the gain to multiply by, {@code offset + g_i}, or null for none} Gemma stores gain -
   * 1.
   *
   * @param gain the gain as stored, or null for none
   * @param offset the number that is added to each element
   */
  public static double @Nullable [] offsetGain(double @Nullable [] gain, double offset) {
    if (gain == null) {
      return null;
    }
    double[] sum = new double[gain.length];
    for (int i = 0; i < gain.length; i++) {
      sum[i] = offset + gain[i];
    }
    return sum;
  }
}
