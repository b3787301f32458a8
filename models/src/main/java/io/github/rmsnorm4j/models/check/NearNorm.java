package io.github.rmsnorm4j.models.check;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Where no norm makes Y: the gain and the bias with which RMSNorm or LayerNorm come near it. They
 * are solved for, each column by least squares over the rows, and so is epsilon. What is near the
 * given gain or bias counts as that, so the distance is that of the norm as it is named. So a user
 * sees what was left out or mixed up.
 */
final class NearNorm {
  /** Fewer rows would be near by chance: a column has two unknowns. */
  private static final int LEAST_ROWS = 4;

  /** What may be left of Y, and of a gain, to call it the same. */
  private static final double NEAR = 0.01;

  private final Sample sample;
  private final boolean layer;
  private final double epsilon;
  private final double[][] normalised;
  private final double[] gain;
  private final double[] bias;
  private final String words;
  private final double left;

  /** Solves each column; a gain or a bias that is near a known one is that one. */
  private NearNorm(Sample sample, boolean layer, double epsilon) {
    this.sample = sample;
    this.layer = layer;
    this.epsilon = epsilon;
    int width = sample.width();
    gain = new double[width];
    bias = new double[width];
    normalised = new double[sample.rows()][];
    for (int row = 0; row < normalised.length; row++) {
      normalised[row] = normalised(row);
    }
    for (int column = 0; column < width; column++) {
      solve(column);
    }
    words = gainWords() + biasWords();
    left = left();
  }

  /** What would have to be otherwise, in one sentence; empty if neither norm is near. */
  static Optional<String> sentence(Sample sample) {
    if (sample.rows() < LEAST_ROWS) {
      return Optional.empty();
    }
    NearNorm rms = withBestEpsilon(sample, false);
    NearNorm layer = withBestEpsilon(sample, true);
    NearNorm nearer = layer.left < rms.left / 2 ? layer : rms;
    return nearer.left < NEAR ? Optional.of(nearer.sentence()) : Optional.empty();
  }

  private static NearNorm withBestEpsilon(Sample sample, boolean layer) {
    NearNorm zero = new NearNorm(sample, layer, 0);
    double given = zero.bestEpsilon(zero.givenGain(), zero.givenBias());
    double solved = zero.bestEpsilon(zero.gain, zero.bias);
    return Stream.of(zero, new NearNorm(sample, layer, given), new NearNorm(sample, layer, solved))
        .min(Comparator.comparingDouble(near -> near.left))
        .orElseThrow();
  }

  private double[] givenGain() {
    return sample.gain == null ? ones() : sample.gain;
  }

  private double[] ones() {
    return DoubleStream.generate(() -> 1).limit(gain.length).toArray();
  }

  private double[] givenBias() {
    return sample.bias == null ? new double[bias.length] : sample.bias;
  }

  /** The middle one of those that make the rows as long as Y is. */
  private double bestEpsilon(double[] withGain, double[] withBias) {
    return Math.max(
        0,
        IntStream.range(0, normalised.length)
            .mapToDouble(row -> epsilon(row, withGain, withBias))
            .sorted()
            .skip(normalised.length / 2)
            .findFirst()
            .orElse(0));
  }

  private double epsilon(int row, double[] withGain, double[] withBias) {
    double products = 0;
    double squares = 0;
    for (int i = 0; i < gain.length; i++) {
      double direction = withGain[i] * normalised[row][i];
      products += direction * (sample.y(row)[i] - withBias[i]);
      squares += direction * direction;
    }
    double factor = products / squares;
    return factor > 0 ? moment(values(row)) * (1 / (factor * factor) - 1) : 0;
  }

  /** The share of Y that is left. */
  private double left() {
    double missed = 0;
    double all = 0;
    for (int row = 0; row < normalised.length; row++) {
      double[] y = sample.y(row);
      for (int i = 0; i < y.length; i++) {
        double difference = y[i] - gain[i] * normalised[row][i] - bias[i];
        missed += difference * difference;
        all += y[i] * y[i];
      }
    }
    return Math.sqrt(missed / all);
  }

  /** A row with its residual. */
  private double[] values(int row) {
    double[] n = sample.x(row).clone();
    double[] residual = sample.residual(row);
    for (int i = 0; residual != null && i < n.length; i++) {
      n[i] += residual[i];
    }
    return n;
  }

  private double moment(double[] row) {
    return layer ? RowSums.moments(row)[1] : RowSums.meanSquare(row, row.length);
  }

  private double[] normalised(int row) {
    double[] n = values(row);
    double mean = layer ? RowSums.moments(n)[0] : 0;
    double root = Math.sqrt(moment(n) + epsilon);
    for (int i = 0; i < n.length; i++) {
      n[i] = root == 0 ? 0 : (n[i] - mean) / root;
    }
    return n;
  }

  /** The line through the points of a column. */
  private void solve(int column) {
    int rows = sample.rows();
    double meanN = 0;
    double meanY = 0;
    for (int row = 0; row < rows; row++) {
      meanN += normalised[row][column] / rows;
      meanY += sample.y(row)[column] / rows;
    }
    double squares = 0;
    double products = 0;
    for (int row = 0; row < rows; row++) {
      double n = normalised[row][column] - meanN;
      squares += n * n;
      products += n * (sample.y(row)[column] - meanY);
    }
    gain[column] = squares == 0 ? 0 : products / squares;
    bias[column] = meanY - gain[column] * meanN;
  }

  private String sentence() {
    return String.format(
        Locale.ROOT,
        "%s with epsilon %s%s comes within %.2g %% of Y%s.",
        layer ? "LayerNorm" : "RMSNorm",
        Statistic.epsilonText(epsilon),
        words,
        100 * left,
        words.isEmpty() ? ": perhaps it was computed in another type" : "");
  }

  /** The gain, if it is not as it was given. */
  private String gainWords() {
    double[] given = givenGain();
    if (isNear(given)) {
      return "";
    }
    if (isNear(ones())) {
      return " without --gain";
    }
    for (double offset : Hypotheses.OFFSETS) {
      if (sample.gain != null && isNear(Arrays.stream(given).map(g -> g + offset).toArray())) {
        return " with --gain + " + (long) offset;
      }
    }
    double factor = factor(gain, given);
    if (isNear(Arrays.stream(given).map(g -> g * factor).toArray())) {
      boolean sum = Math.abs(factor * Math.sqrt(gain.length) - 1) < NEAR;
      return String.format(
          Locale.ROOT, " times %.4g%s", factor, sum ? ", 1 / sqrt(width), so an L2 norm," : "");
    }
    return " with a gain from %s%s"
        .formatted(range(gain), sample.gain == null ? "" : ", which is not --gain,");
  }

  private String biasWords() {
    double[] given = givenBias();
    double scale = length(sample.y(0)) / Math.sqrt(bias.length);
    if (distance(bias, given) / Math.sqrt(bias.length) < NEAR * scale) {
      System.arraycopy(given, 0, bias, 0, bias.length);
      return "";
    }
    return " plus a bias from %s%s"
        .formatted(range(bias), sample.bias == null ? "" : ", which is not --bias,");
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

  /** Whether the gain is near a known one; then it is that one. */
  private boolean isNear(double[] known) {
    boolean near = distance(gain, known) < NEAR * length(known);
    if (near) {
      System.arraycopy(known, 0, gain, 0, gain.length);
    }
    return near;
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
