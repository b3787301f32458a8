package io.github.rmsnorm4j;

import io.github.rmsnorm4j.reference.AddedResidual;
import io.github.rmsnorm4j.reference.Definitions;
import io.github.rmsnorm4j.reference.Gradients;
import java.util.Arrays;

/**
 * The gradients of an answer of libtorch by the definitions of {@code reference}, right or with one
 * mistake, and the sizes of the terms that they are made of: roundings are in proportion to those,
 * also where the terms cancel.
 */
final class LibtorchTerms {
  /** Formulas that are near the right one. */
  enum Mistake {
    NONE,
    /** As if the statistic did not depend on the row. */
    STATISTIC_FIXED,
    /** LayerNorm's gradient for an RMSNorm. */
    MEAN_TAKEN_OFF,
    /** LayerNorm's h not centred. */
    MEAN_LEFT_IN,
    /** A part's statistic taken for that of the row. */
    WHOLE_ROW,
    OFFSET_FORGOTTEN,
    RESIDUAL_FORGOTTEN,
    /** dgain of the rows as they are. */
    NOT_NORMALISED,
    /** dgain with the gain in it. */
    GAIN_TWICE;

    boolean appliesTo(LibtorchTerms of) {
      return switch (this) {
        case NONE, STATISTIC_FIXED, NOT_NORMALISED, GAIN_TWICE -> true;
        case MEAN_TAKEN_OFF -> !of.centred;
        case MEAN_LEFT_IN -> of.centred;
        case WHOLE_ROW -> of.part < of.width;
        case OFFSET_FORGOTTEN -> of.offset != 0;
        case RESIDUAL_FORGOTTEN -> of.answer.lines().containsKey("dresidual");
      };
    }
  }

  /** The gradients of all rows. */
  record Result(double[] dx, double[] dgain, double[] dbias) {}

  final double[] dxSize;
  final double[] dgainSize;
  final double[] dbiasSize;

  private final LibtorchAnswer answer;
  private final int width;
  private final int part;
  private final boolean centred;
  private final double offset;
  private final double epsilon;
  private final EpsilonPlacement placement;

  /**
   * @param fromOutput whether normalised rows are taken back from outputs, out of which a bias may
   *     cancel
   * @param meanShare the error of a mean beside a rounding of what it is taken off
   */
  LibtorchTerms(LibtorchAnswer answer, boolean fromOutput, double meanShare) {
    this.answer = answer;
    width = answer.width();
    centred = answer.norm().endsWith("LAYER_NORM");
    offset = answer.norm().equals("GEMMA") ? 1 : 0;
    epsilon = answer.ours().spec().epsilon(ElementType.FLOAT32);
    boolean paper = answer.norm().equals("PAPER") || answer.norm().equals("PARTIAL");
    placement = paper ? EpsilonPlacement.OUTSIDE : EpsilonPlacement.INSIDE;
    boolean partial = answer.norm().equals("PARTIAL");
    part = partial ? Definitions.partOfPublishedCode(width, 0.3) : width;
    dxSize = new double[answer.rows() * width];
    dgainSize = new double[width];
    dbiasSize = new double[width];
    for (int row = 0; row < answer.rows(); row++) {
      sizes(row, fromOutput, meanShare);
    }
  }

  private double[] line(String key, int row) {
    double[] all = answer.lines().get(key);
    return all == null ? null : Arrays.copyOfRange(all, row * width, (row + 1) * width);
  }

  /** The row that is normalised; where the statistic is of another, that differs by a rounding. */
  private double[] normalised(int row) {
    double[] residual = line("residual", row);
    double[] x = line("x", row);
    if (residual == null) {
      return x;
    }
    boolean late = answer.norm().equals("ADDED_LAST");
    ResidualRounding when = late ? ResidualRounding.LAST : ResidualRounding.FIRST;
    boolean float64 = answer.x() == ElementType.FLOAT64;
    ElementType arithmetic = float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    return AddedResidual.of(x, residual, arithmetic, answer.x(), when).normalised();
  }

  private double root(double[] x, int k) {
    double m = centred ? Definitions.variance(x) : Definitions.meanSquare(x, k);
    return Definitions.root(m, epsilon, placement);
  }

  private double[] gain(double offset) {
    return Definitions.offsetGain(answer.lines().get("weight"), offset);
  }

  /** Terms without their signs; xh has the sizes of what it is taken from too. */
  private void sizes(int row, boolean fromOutput, double meanShare) {
    double[] x = normalised(row);
    double[] dy = line("dy", row);
    double[] g = gain(offset);
    double[] bias = answer.lines().get("bias");
    double[] own = line("dresidual", row);
    double root = root(x, part);
    double mean = centred ? Definitions.mean(x) : 0;
    double largest = Arrays.stream(x).map(Math::abs).max().orElseThrow();
    double meanSize = centred ? (Math.abs(mean) + meanShare * largest) / root : 0;
    double[] xh = new double[width];
    double products = 0;
    double slopes = 0;
    for (int i = 0; i < width; i++) {
      double back = fromOutput && bias != null ? 2 * Math.abs(bias[i] / g[i]) : 0;
      xh[i] = Math.abs(x[i] - mean) / root + meanSize + back;
      products += Math.abs(dy[i] * g[i]) * xh[i] / part;
      slopes += centred ? Math.abs(dy[i] * g[i]) / width : 0;
    }
    for (int i = 0; i < width; i++) {
      double term = i < part ? xh[i] * products : 0;
      double size = (Math.abs(dy[i] * g[i]) + slopes + term) / root;
      dxSize[row * width + i] = size + (own == null ? 0 : Math.abs(own[i]));
      dgainSize[i] += Math.abs(dy[i]) * xh[i];
      dbiasSize[i] += Math.abs(dy[i]);
    }
  }

  /** By the definitions, but for one mistake. */
  Result gradients(Mistake mistake) {
    Result result = new Result(new double[dxSize.length], new double[width], new double[width]);
    double[] g = gain(mistake == Mistake.OFFSET_FORGOTTEN ? 0 : offset);
    for (int row = 0; row < answer.rows(); row++) {
      double[] x = normalised(row);
      double[] dy = line("dy", row);
      double[] own = mistake == Mistake.RESIDUAL_FORGOTTEN ? null : line("dresidual", row);
      double[] dx = dx(mistake, x, dy, g);
      double mean = centred ? Definitions.mean(x) : 0;
      double root = mistake == Mistake.NOT_NORMALISED ? 1 : root(x, part);
      double[] dgain = Gradients.gain(x, dy, mean, root);
      for (int i = 0; i < width; i++) {
        result.dx[row * width + i] = dx[i] + (own == null ? 0 : own[i]);
        result.dgain[i] += dgain[i] * (mistake == Mistake.GAIN_TWICE ? g[i] : 1);
        result.dbias[i] += dy[i];
      }
    }
    return result;
  }

  private double[] dx(Mistake mistake, double[] x, double[] dy, double[] g) {
    double mean = centred ? Definitions.mean(x) : 0;
    return switch (mistake) {
      case STATISTIC_FIXED -> Definitions.output(dy, 0, root(x, part), g, null);
      case MEAN_TAKEN_OFF -> Gradients.layerNorm(x, dy, g, epsilon, placement);
      case MEAN_LEFT_IN -> {
        double[] centredRow = Arrays.stream(x).map(v -> v - mean).toArray();
        yield Gradients.rmsNorm(centredRow, dy, g, width, epsilon, placement);
      }
      case WHOLE_ROW -> Gradients.rmsNorm(x, dy, g, width, epsilon, placement);
      default ->
          centred
              ? Gradients.layerNorm(x, dy, g, epsilon, placement)
              : Gradients.rmsNorm(x, dy, g, part, epsilon, placement);
    };
  }
}
