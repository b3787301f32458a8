package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.function.LongConsumer;

/**
 * Compares each norm together with the matrices that take its output: {@code W (n g + beta) + b}
 * for normalised rows n, before and after. That is {@code A n + c} with the effective matrix {@code
 * A = W diag(g)} and the effective bias {@code c = b + W beta}. So three things are compared, in
 * float64: the normalised rows, each element of A, and each element of c. The outputs for random
 * rows are compared as well.
 *
 * <p>Bounds. A stored number is the exact one with one rounding to its type: it differs by at most
 * {@code u |exact| + t}, with u half a unit of the type and t half of its smallest number. A
 * float64 sum of n products differs by at most {@code (n + 16) 2^-52} times the sum of their
 * absolute values. An output for a row adds these up over its inputs.
 */
final class SiteProof {
  private static final long SEED = 20260101;

  private final Side before;
  private final Side after;
  private final boolean converted;
  private final LongConsumer progress;
  private final Worst rows = new Worst("normalised rows, float64");
  private final Worst matrices = new Worst("elements of W diag(g)");
  private final Worst biases = new Worst("elements of b + W beta");
  private final Worst outputs = new Worst("outputs for random rows");

  /**
   * Prepares.
   *
   * @param converted whether the result's norms are RMSNorm, and their rows have no mean
   */
  SiteProof(Side before, Side after, boolean converted, LongConsumer progress) {
    this.before = before;
    this.after = after;
    this.converted = converted;
    this.progress = progress;
  }

  List<Finding> findings() throws IOException {
    List<NormSite> sites = before.norms().norms();
    List<NormSite> others = after.norms().norms();
    if (sites.size() != others.size()) {
      throw new RefusedException(
          "the result has %s norms, the model has %s".formatted(others.size(), sites.size()));
    }
    for (int i = 0; i < sites.size(); i++) {
      compare(sites.get(i), others.get(i));
    }
    return List.of(rows.finding(), matrices.finding(), biases.finding(), outputs.finding());
  }

  private void compare(NormSite site, NormSite other) throws IOException {
    if (converted && other.spec().kind() != NormSpec.Kind.RMS_NORM) {
      rows.add(1, 0, other.name() + ", which is not RMSNorm");
    }
    double[][] random = randomRows(site);
    double[][] n = new double[random.length][];
    double[][] m = new double[random.length][];
    for (int r = 0; r < random.length; r++) {
      n[r] = Side.normalise(site, random[r]);
      m[r] = Side.normalise(other, converted ? Side.centred(random[r]) : random[r]);
      for (int j = 0; j < site.width(); j++) {
        double bound = (site.width() + 16) * 0x1p-52 * Math.abs(n[r][j]);
        rows.add(n[r][j] - m[r][j], bound, site.name());
      }
    }
    compareGains(site, other);
    for (int i = 0; i < site.consumers().size(); i++) {
      compare(site, site.consumers().get(i), n, other, other.consumers().get(i), m);
    }
  }

  /** A norm whose output goes elsewhere than into such matrices must keep its gain and bias. */
  private void compareGains(NormSite site, NormSite other) throws IOException {
    boolean kept = site.consumers().isEmpty();
    for (Projection consumer : site.consumers()) {
      kept |= !isRead(before.tensors().tensor(consumer.weight()));
    }
    if (kept) {
      double[] gain = before.gain(site);
      double[] bias = before.bias(site);
      double[] gainAfter = after.gain(other);
      double[] biasAfter = after.bias(other);
      for (int j = 0; j < site.width(); j++) {
        matrices.add(gain[j] - gainAfter[j], 0, site.name());
        biases.add(bias[j] - biasAfter[j], 0, site.name());
      }
    }
  }

  private static ElementType type(Tensor tensor) {
    return tensor.dtype().elementType().orElseThrow();
  }

  private static boolean isRead(Tensor tensor) {
    return tensor.dtype().elementType().isPresent();
  }

  /** Rows of several sizes and means; in the last, epsilon is as large as the mean square. */
  private static double[][] randomRows(NormSite site) {
    Random random = new Random(SEED + site.name().hashCode());
    double epsilon = Side.epsilon(site);
    double small = epsilon == 0 ? 1 : Math.sqrt(epsilon);
    double[][] shapes = {{1, 0.5}, {4, -3}, {small, small / 2}};
    double[][] rows = new double[shapes.length][site.width()];
    for (int r = 0; r < rows.length; r++) {
      for (int j = 0; j < site.width(); j++) {
        rows[r][j] = shapes[r][0] * random.nextGaussian() + shapes[r][1];
      }
    }
    return rows;
  }

  private void compare(
      NormSite site, Projection matrix, double[][] n, NormSite other, Projection same, double[][] m)
      throws IOException {
    Tensor stored = before.tensors().tensor(matrix.weight());
    if (!isRead(stored)) {
      return; // It keeps its bytes, which is compared elsewhere.
    }
    Blocks blocks = new Blocks(before.tensors(), stored, progress);
    int outputs = (int) (matrix.inputsFirst() ? blocks.columns : blocks.rows);
    int inputs = (int) (matrix.inputsFirst() ? blocks.rows : blocks.columns);
    SiteSums.Model original = before.model(site, matrix, inputs, outputs, n);
    SiteSums.Model rewritten = after.model(other, same, inputs, outputs, m);
    Tensor bias = before.tensors().tensor(matrix.bias().orElse(matrix.weight()));
    SiteSums sums = new SiteSums(type(stored), type(bias), original, rewritten);
    blocks.forEach(
        after.tensors(),
        after.tensors().tensor(same.weight()),
        (values, changed, first, rows) -> {
          for (int row = 0; row < rows; row++) {
            for (int column = 0; column < blocks.columns; column++) {
              int at = row * blocks.columns + column;
              int index = (int) first + row;
              int output = matrix.inputsFirst() ? column : index;
              int input = matrix.inputsFirst() ? index : column;
              sums.add(output, input, values[at], changed[at], matrices, matrix.weight());
            }
          }
        });
    sums.finish(biases, this.outputs, matrix.weight());
  }
}
