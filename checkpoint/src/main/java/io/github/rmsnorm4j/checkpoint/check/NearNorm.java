package io.github.rmsnorm4j.checkpoint.check;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;

/**
 * Where no norm makes Y: the gain and the bias with which RMSNorm or LayerNorm come near it. They
 * are solved for, each column by least squares over the rows, with epsilon 0. So a user sees what
 * was left out or mixed up.
 */
final class NearNorm {
  /** Fewer rows would be near by chance: a column has two unknowns. */
  private static final int LEAST_ROWS = 4;

  /** What may be left of Y, and of a gain, to call it the same. */
  private static final double NEAR = 0.01;

  private final Sample sample;
  private final boolean layer;
  private final double[] gain;
  private final double[] bias;
  private final double left;

  private NearNorm(Sample sample, boolean layer) {
    this.sample = sample;
    this.layer = layer;
    gain = new double[sample.width()];
    bias = new double[sample.width()];
    left = solve();
  }

  /** What would have to be otherwise, in one sentence; empty if neither norm is near. */
  static Optional<String> sentence(Sample sample) {
    if (sample.rows() < LEAST_ROWS) {
      return Optional.empty();
    }
    NearNorm rms = new NearNorm(sample, false);
    NearNorm layer = new NearNorm(sample, true);
    NearNorm nearer = layer.left < rms.left / 2 ? layer : rms;
    return nearer.left < NEAR ? Optional.of(nearer.words()) : Optional.empty();
  }

  /** Solves each column; gives the root of the share of Y that is left. */
  private double solve() {
    int rows = sample.rows();
    double[][] normalised = new double[rows][];
    for (int row = 0; row < rows; row++) {
      normalised[row] = normalised(row);
    }
    double missed = 0;
    double all = 0;
    for (int column = 0; column < gain.length; column++) {
      int j = column;
      solve(j, row -> normalised[row][j]);
      for (int row = 0; row < rows; row++) {
        double y = sample.y(row)[j];
        double difference = y - gain[j] * normalised[row][j] - bias[j];
        missed += difference * difference;
        all += y * y;
      }
    }
    return Math.sqrt(missed / all);
  }

  private double[] normalised(int row) {
    double[] n = sample.x(row).clone();
    double[] residual = sample.residual(row);
    for (int i = 0; residual != null && i < n.length; i++) {
      n[i] += residual[i];
    }
    double[] moments = RowSums.moments(n);
    double mean = layer ? moments[0] : 0;
    double root = Math.sqrt(layer ? moments[1] : RowSums.meanSquare(n, n.length));
    for (int i = 0; i < n.length; i++) {
      n[i] = root == 0 ? 0 : (n[i] - mean) / root;
    }
    return n;
  }

  /** The line through the points of a column. */
  private void solve(int column, IntToDoubleFunction normalised) {
    int rows = sample.rows();
    double meanN = 0;
    double meanY = 0;
    for (int row = 0; row < rows; row++) {
      meanN += normalised.applyAsDouble(row) / rows;
      meanY += sample.y(row)[column] / rows;
    }
    double squares = 0;
    double products = 0;
    for (int row = 0; row < rows; row++) {
      double n = normalised.applyAsDouble(row) - meanN;
      squares += n * n;
      products += n * (sample.y(row)[column] - meanY);
    }
    gain[column] = squares == 0 ? 0 : products / squares;
    bias[column] = meanY - gain[column] * meanN;
  }

  private String words() {
    String name = layer ? "LayerNorm" : "RMSNorm";
    String gainWords = gainWords();
    String biasWords = biasWords();
    boolean asGiven = gainWords.isEmpty() && biasWords.isEmpty();
    return String.format(
        Locale.ROOT,
        "%s%s%s comes within %.2g %% of Y%s.",
        name,
        gainWords,
        biasWords,
        100 * left,
        asGiven ? ": perhaps it was computed in another type" : "");
  }

  /** The gain, if it is not as it was given. */
  private String gainWords() {
    double[] ones = new double[gain.length];
    Arrays.fill(ones, 1);
    double[] given = sample.gain() == null ? ones : sample.gain();
    if (isNear(gain, given)) {
      return "";
    }
    if (isNear(gain, ones)) {
      return " without --gain";
    }
    for (double offset : Hypotheses.OFFSETS) {
      if (sample.gain() != null
          && isNear(gain, Arrays.stream(given).map(g -> g + offset).toArray())) {
        return " with --gain + " + (long) offset;
      }
    }
    double factor = factor(gain, given);
    if (isNear(gain, Arrays.stream(given).map(g -> g * factor).toArray())) {
      boolean sum = Math.abs(factor * Math.sqrt(gain.length) - 1) < NEAR;
      return String.format(
          Locale.ROOT, " times %.4g%s", factor, sum ? ", 1 / sqrt(width), so an L2 norm," : "");
    }
    return " with a gain from %s%s"
        .formatted(range(gain), sample.gain() == null ? "" : ", which is not --gain,");
  }

  private String biasWords() {
    double[] given = sample.bias() == null ? new double[bias.length] : sample.bias();
    double scale = length(sample.y(0)) / Math.sqrt(bias.length);
    if (distance(bias, given) / Math.sqrt(bias.length) < NEAR * scale) {
      return "";
    }
    return " plus a bias from %s%s"
        .formatted(range(bias), sample.bias() == null ? "" : ", which is not --bias,");
  }

  private static String range(double[] values) {
    return String.format(
        Locale.ROOT,
        "%.4g to %.4g",
        Arrays.stream(values).min().orElseThrow(),
        Arrays.stream(values).max().orElseThrow());
  }

  /** The factor that brings one vector nearest to another. */
  private static double factor(double[] to, double[] from) {
    double products = 0;
    for (int i = 0; i < to.length; i++) {
      products += to[i] * from[i];
    }
    double length = length(from);
    return length == 0 ? 0 : products / length / length;
  }

  private static boolean isNear(double[] one, double[] other) {
    return distance(one, other) < NEAR * length(other);
  }

  private static double distance(double[] one, double[] other) {
    double sum = 0;
    for (int i = 0; i < one.length; i++) {
      sum += (one[i] - other[i]) * (one[i] - other[i]);
    }
    return Math.sqrt(sum);
  }

  private static double length(double[] values) {
    return distance(values, new double[values.length]);
  }
}
