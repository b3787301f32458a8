package io.github.rmsnorm4j;

import java.util.function.IntToDoubleFunction;

/**
 * The backward half of the numerics contract written again from its text, one plain step after the
 * other, sharing nothing with the kernels: what they have to equal to the bit.
 *
 * <p>Rows and results are doubles, which hold the values of every type exactly.
 */
final class BackwardContract {
  private static final int BLOCK = 32;

  /**
   * What a norm is, as far as its gradient depends on it.
   *
   * @param count what the sum of squares was divided by
   */
  record Choice(
      boolean centred,
      int part,
      int count,
      double epsilon,
      EpsilonPlacement placement,
      boolean float64,
      boolean fromOutput,
      double[] gain,
      double[] bias,
      Gate gate) {
    /** Without a gate. */
    Choice(
        boolean centred,
        int part,
        int count,
        double epsilon,
        EpsilonPlacement placement,
        boolean float64,
        boolean fromOutput,
        double[] gain,
        double[] bias) {
      this(centred, part, count, epsilon, placement, float64, fromOutput, gain, bias, Gate.NONE);
    }
  }

  /**
   * All rows' answer.
   *
   * @param dz not rounded to the type of its rows; null without a gate
   */
  record Result(double[][] dx, double[] dgain, double[] dbias, double[][] dz) {
    /** Without a gate. */
    Result(double[][] dx, double[] dgain, double[] dbias) {
      this(dx, dgain, dbias, null);
    }
  }

  private final Choice choice;
  private final int width;
  private final double[][] xh;

  /** The gradient of the norm's output: dy, or dy times the gate after it. */
  private final double[][] slopes;

  private final double[][] dz;

  private BackwardContract(Choice choice, int rows, int width) {
    this.choice = choice;
    this.width = width;
    xh = new double[rows][width];
    slopes = new double[rows][];
    dz = new double[rows][width];
  }

  /**
   * The gradients of some rows.
   *
   * @param kept input or output
   * @param mean of each row, zeros where it is not used
   * @param dresidual what is added to dx, or null
   */
  static Result of(
      Choice choice,
      double[][] kept,
      double[][] dy,
      double[] mean,
      double[] rstd,
      double[][] dresidual,
      ElementType out) {
    return of(choice, kept, null, dy, mean, rstd, dresidual, out);
  }

  /**
   * The gradients of some rows.
   *
   * @param kept input or output
   * @param z the gate, or null
   * @param mean of each row, zeros where it is not used
   * @param dresidual what is added to dx, or null
   */
  static Result of(
      Choice choice,
      double[][] kept,
      double[][] z,
      double[][] dy,
      double[] mean,
      double[] rstd,
      double[][] dresidual,
      ElementType out) {
    int width = kept[0].length;
    BackwardContract contract = new BackwardContract(choice, kept.length, width);
    double[][] dx = new double[kept.length][];
    for (int r = 0; r < kept.length; r++) {
      double[] added = dresidual == null ? null : dresidual[r];
      dx[r] =
          contract.row(r, kept[r], z == null ? null : z[r], dy[r], mean[r], rstd[r], added, out);
    }
    double[] dgain = new double[width];
    double[] dbias = new double[width];
    for (int i = 0; i < width; i++) {
      int c = i;
      dgain[i] =
          contract.sum(r -> contract.round(contract.slopes[r][c] * contract.xh[r][c]), kept.length);
      dbias[i] = contract.sum(r -> contract.round(contract.slopes[r][c]), kept.length);
    }
    return new Result(dx, dgain, dbias, z == null ? null : contract.dz);
  }

  /** Sums of nothing. */
  static Result ofNoRows(int width) {
    return new Result(new double[0][], new double[width], new double[width]);
  }

  /** To the arithmetic's type. */
  private double round(double v) {
    return choice.float64 ? v : (float) v;
  }

  /** Blocks of 32 rows in order, and the blocks as a tree. */
  private double sum(IntToDoubleFunction term, int rows) {
    double[] nodes = new double[(rows + BLOCK - 1) / BLOCK];
    for (int r = 0; r < rows; r++) {
      nodes[r / BLOCK] = round(nodes[r / BLOCK] + term.applyAsDouble(r));
    }
    while (nodes.length > 1) {
      double[] above = new double[(nodes.length + 1) / 2];
      for (int k = 0; k < above.length; k++) {
        boolean both = 2 * k + 1 < nodes.length;
        above[k] = both ? round(nodes[2 * k] + nodes[2 * k + 1]) : nodes[2 * k];
      }
      nodes = above;
    }
    return nodes[0];
  }

  private double[] row(
      int row,
      double[] x,
      double[] z,
      double[] ofOutput,
      double mean,
      double rstd,
      double[] added,
      ElementType out) {
    float r = (float) rstd;
    float hi = (float) mean;
    boolean normal = r >= Float.MIN_NORMAL && r <= Float.MAX_VALUE;
    boolean exact = choice.float64 || !normal || choice.centred && Math.abs(hi) >= 0x1p103f;
    ElementType arithmetic = choice.float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    double[] act = z == null ? null : ContractGate.backward(choice.gate, z, arithmetic);
    boolean before = choice.gate == Gate.SILU_BEFORE;
    boolean after = act != null && !before;
    double[] kept = before ? ContractGate.product(x, act, arithmetic) : x;
    ElementType exactly = exact ? ElementType.FLOAT64 : ElementType.FLOAT32;
    double[] dy = after ? ContractGate.product(ofOutput, act, exactly) : ofOutput;
    slopes[row] = dy;
    double[] h = new double[width];
    double[] products = new double[width];
    for (int i = 0; i < width; i++) {
      double g = choice.gain == null ? 1 : choice.gain[i];
      double b = choice.bias == null ? 0 : choice.bias[i];
      if (exact) {
        double taken = choice.centred ? kept[i] - mean : kept[i];
        double scaled = choice.bias == null ? kept[i] : kept[i] - b;
        double divided = choice.gain == null ? scaled : scaled / g;
        xh[row][i] = choice.fromOutput ? divided : taken * rstd;
        h[i] = choice.gain == null ? dy[i] : dy[i] * g;
        boolean plain = choice.float64 && choice.fromOutput;
        products[i] = plain ? dy[i] * scaled : h[i] * xh[row][i];
        continue;
      }
      float v = (float) kept[i];
      float slope = (float) dy[i];
      float lo = (float) (mean - hi);
      float scaled = choice.bias == null ? v : v - (float) b;
      float divided = choice.gain == null ? scaled : scaled / (float) g;
      float taken = choice.centred ? (v - hi) - lo : v;
      float normalised = choice.fromOutput ? divided : taken * r;
      float product = choice.gain == null ? slope : slope * (float) g;
      xh[row][i] = normalised;
      h[i] = product;
      products[i] = choice.fromOutput ? slope * scaled : product * normalised;
    }
    double used = exact ? rstd : r;
    double m = product(Moments.rowSum(products) / choice.count, used);
    double c = Moments.rowSum(h) / width;
    double[] dx = new double[width];
    for (int i = 0; i < width; i++) {
      double inPart = i < choice.part ? m : 0;
      double d;
      if (exact) {
        d = ((choice.centred ? h[i] - c : h[i]) - xh[row][i] * inPart) * rstd;
        dz[row][i] = d;
        d = before ? d * act[i] : d;
        d = added == null ? d : d + added[i];
      } else {
        float centred = choice.centred ? (float) h[i] - (float) c : (float) h[i];
        float f = (centred - (float) xh[row][i] * (float) inPart) * r;
        dz[row][i] = f;
        f = before ? f * (float) act[i] : f;
        d = added == null ? f : f + (float) added[i];
      }
      dx[i] = Rounding.to(out, d);
    }
    if (act != null) {
      double[] other = before ? x : output(xh[row], exactly);
      double[] first = ContractGate.product(before ? dz[row] : ofOutput, other, exactly);
      double[] slope = ContractGate.derivative(choice.gate, z, arithmetic);
      dz[row] = ContractGate.product(first, slope, exactly);
    }
    return dx;
  }

  /** What a gate after the norm multiplies. */
  private double[] output(double[] normalised, ElementType arithmetic) {
    double[] y =
        choice.gain == null
            ? normalised.clone()
            : ContractGate.product(normalised, choice.gain, arithmetic);
    for (int i = 0; choice.bias != null && i < y.length; i++) {
      y[i] = Rounding.to(arithmetic, y[i] + choice.bias[i]);
    }
    return y;
  }

  /** With what epsilon's place adds to it. */
  private double product(double mean, double rstd) {
    double limit = 1 / choice.epsilon;
    double share = 1 - rstd * choice.epsilon;
    return switch (choice.placement) {
      case INSIDE -> mean;
      case OUTSIDE -> share > (choice.float64 ? 0 : 0x1p-23) ? mean / share : 0;
      case FLOOR -> rstd >= (choice.float64 ? limit : Math.min(limit, (float) limit)) ? 0 : mean;
    };
  }
}
