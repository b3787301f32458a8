package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;

/** The sums of {@link SiteProof} for one matrix, element by element in any order. */
final class SiteSums {
  /** The float64 error of a sum of products, for each term. */
  private static final double TERM = 0x1p-52;

  /**
   * One of the two models at this place.
   *
   * @param gain what the norm multiplies by
   * @param beta what the norm adds
   * @param bias what the matrix adds
   * @param rows normalised rows
   * @param scale what the matrix is multiplied by
   */
  record Model(double[] gain, double[] beta, double[] bias, double[][] rows, double scale) {}

  private final Model before;
  private final Model after;
  private final double unit;
  private final double tiniest;
  private final ElementType biasType;
  private final double arithmetic;
  private final double[] product;
  private final double[] productAfter;
  private final double[] productSize;
  private final double[][] output;
  private final double[][] outputAfter;
  private final double[][] outputSize;
  private final double[] rowSize;

  SiteSums(ElementType type, ElementType biasType, Model before, Model after) {
    this.before = before;
    this.after = after;
    this.unit = type.unitRoundoff();
    this.tiniest = tiniest(type);
    this.biasType = biasType;
    this.arithmetic = (before.gain.length + 16) * TERM;
    int outputs = before.bias.length;
    int rows = before.rows.length;
    this.product = new double[outputs];
    this.productAfter = new double[outputs];
    this.productSize = new double[outputs];
    this.output = new double[rows][outputs];
    this.outputAfter = new double[rows][outputs];
    this.outputSize = new double[rows][outputs];
    this.rowSize = new double[rows];
    for (int r = 0; r < rows; r++) {
      for (double value : after.rows[r]) {
        rowSize[r] += Math.abs(value);
      }
    }
  }

  /** The largest error of one rounding of a number that is too small to be normal. */
  static double tiniest(ElementType type) {
    return Math.max(type.minValue() / 2, Double.MIN_VALUE);
  }

  /** Adds one stored element of the matrix, and compares it. */
  void add(int i, int j, double stored, double storedAfter, Worst elements, String place) {
    double w = stored * before.scale;
    double wAfter = storedAfter * after.scale;
    double a = w * before.gain[j];
    double aAfter = wAfter * after.gain[j];
    double bound = (unit + 8 * TERM) * Math.abs(a) + tiniest * Math.abs(after.gain[j]);
    elements.add(a - aAfter, bound, place);
    double term = w * before.beta[j];
    product[i] += term;
    productAfter[i] += wAfter * after.beta[j];
    productSize[i] += Math.abs(term);
    for (int r = 0; r < output.length; r++) {
      double x = a * before.rows[r][j];
      output[r][i] += x;
      outputAfter[r][i] += aAfter * after.rows[r][j];
      outputSize[r][i] += Math.abs(x);
    }
  }

  /** Compares what was summed. */
  void finish(Worst biases, Worst outputs, String place) {
    for (int i = 0; i < product.length; i++) {
      double c = before.bias[i] + product[i];
      double cAfter = after.bias[i] + productAfter[i];
      double size = Math.abs(before.bias[i]) + productSize[i];
      double rounding = biasType.unitRoundoff() * Math.abs(c);
      double bound = rounding + tiniest(biasType) + arithmetic * 2 * size;
      biases.add(c - cAfter, bound, place);
      for (int r = 0; r < output.length; r++) {
        outputs.add(
            output[r][i] + c - (outputAfter[r][i] + cAfter),
            bound + (unit + 4 * arithmetic) * outputSize[r][i] + tiniest * rowSize[r],
            place);
      }
    }
  }
}
