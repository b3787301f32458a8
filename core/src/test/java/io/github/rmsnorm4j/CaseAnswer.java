package io.github.rmsnorm4j;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.IntStream;

/** The contract's answer to a drawn call. */
final class CaseAnswer {
  /** Of the groups of all rows, one row after the other. */
  final Contract.Result[] forward;

  /** What the backward call has of each of these, whether it was kept or is computed again. */
  private final Contract.Result[] measured;

  private final Case drawn;
  private final int groups;

  /** Null forward. */
  final BackwardContract.Result gradients;

  CaseAnswer(Case drawn) {
    this.drawn = drawn;
    groups = drawn.norm.groups();
    forward = new Contract.Result[drawn.x.rows().length * groups];
    for (int r = 0; r < drawn.x.rows().length; r++) {
      put(forward, r, drawn.norm, Operand.row(drawn.x, r), Operand.row(drawn.residual, r));
    }
    measured = drawn.keep == Keep.NOTHING ? again() : forward;
    gradients = drawn.dy == null ? null : gradients();
  }

  private void put(Contract.Result[] all, int r, Variant norm, Values x, Values added) {
    Values z = Operand.row(drawn.z, r);
    int sample = (int) ((long) r * drawn.samples / drawn.x.rows().length);
    Values gain = Operand.row(drawn.gain, sample);
    Values bias = Operand.row(drawn.bias, sample);
    Contract.Result[] row = Contract.groups(norm, x, added, z, gain, bias, drawn.y.type());
    System.arraycopy(row, 0, all, r * groups, groups);
  }

  /** Computed again from what was stored, and the gradient knows no cast. */
  private Contract.Result[] again() {
    Contract.Result[] again = new Contract.Result[forward.length];
    Operand in = drawn.residual == null ? drawn.x : drawn.residual;
    for (int r = 0; r < drawn.x.rows().length; r++) {
      put(again, r, drawn.norm.withoutCasts(), new Values(in.type(), stored(r)), null);
    }
    return again;
  }

  /** The input, or the sum with the residual. */
  private double[] stored(int row) {
    return drawn.residual == null ? drawn.x.rows()[row] : sum(row);
  }

  double[] y(int row) {
    return joined(row, Contract.Result::y);
  }

  double[] sum(int row) {
    return joined(row, Contract.Result::residual);
  }

  private double[] joined(int row, Function<Contract.Result, double[]> what) {
    return Arrays.stream(forward, row * groups, (row + 1) * groups)
        .map(what)
        .flatMapToDouble(Arrays::stream)
        .toArray();
  }

  private double[] joined(double[][] ofGroups, int row) {
    return joined(ofGroups, row * groups, groups);
  }

  /** Some arrays, one after the other, from one on. */
  static double[] joined(double[][] of, int from, int count) {
    return count == 1
        ? of[from]
        : Arrays.stream(of, from, from + count).flatMapToDouble(Arrays::stream).toArray();
  }

  /** Which rows leave the range of their arithmetic. */
  boolean[] outOfRange() {
    boolean[] out = new boolean[drawn.x.rows().length];
    for (int i = 0; i < forward.length; i++) {
      out[i / groups] |= forward[i].outOfRange() || measured[i].outOfRange();
    }
    return out;
  }

  /** Each sample, or each group with a gain of its own, is a norm of its own. */
  private BackwardContract.Result gradients() {
    int all = forward.length;
    int norms = drawn.isApart() ? groups : drawn.samples;
    if (all == 0) {
      return BackwardContract.ofNoRows(drawn.length);
    }
    double[][] dx = new double[all][];
    double[][] dz = new double[all][];
    double[][] dgain = new double[norms][];
    double[][] dbias = new double[norms][];
    for (int n = 0; n < norms; n++) {
      int[] rows =
          drawn.isApart()
              ? IntStream.iterate(n, i -> i < all, i -> i + norms).toArray()
              : IntStream.range(all / norms * n, all / norms * (n + 1)).toArray();
      BackwardContract.Result result = gradients(rows, n, norms);
      for (int r = 0; r < rows.length; r++) {
        dx[rows[r]] = result.dx()[r];
        dz[rows[r]] = result.dz() == null ? null : result.dz()[r];
      }
      dgain[n] = result.dgain();
      dbias[n] = result.dbias();
    }
    int count = drawn.x.rows().length;
    double[][] wide = new double[count][];
    double[][] wideZ = new double[count][];
    for (int r = 0; r < count; r++) {
      wide[r] = joined(dx, r);
      wideZ[r] = drawn.dz == null ? null : rounded(drawn.dz.type(), joined(dz, r));
    }
    return new BackwardContract.Result(
        wide, joined(dgain, 0, norms), joined(dbias, 0, norms), wideZ);
  }

  private static double[] rounded(ElementType type, double[] values) {
    return Arrays.stream(values).map(v -> Rounding.to(type, v)).toArray();
  }

  private BackwardContract.Result gradients(int[] rows, int norm, int norms) {
    boolean output = drawn.keep == Keep.OUTPUT;
    boolean float64 = drawn.x.type() == ElementType.FLOAT64;
    Variant is = drawn.norm.ofGroup();
    BackwardContract.Choice choice =
        new BackwardContract.Choice(
            is.centred(),
            is.part(),
            is.count(),
            is.epsilon(),
            is.placement(),
            float64,
            output,
            parameter(drawn.gain, norm, norms, is.gainOffset(), float64),
            parameter(drawn.bias, norm, norms, 0, float64),
            is.gate());
    double[][] kept = new double[rows.length][];
    double[] mean = new double[rows.length];
    double[] rstd = new double[rows.length];
    for (int r = 0; r < rows.length; r++) {
      Contract.Result of = forward[rows[r]];
      double[] in = drawn.residual == null ? group(drawn.x, rows[r]) : of.residual();
      kept[r] = output ? of.y() : in;
      mean[r] = output || !is.centred() ? 0 : measured[rows[r]].mean();
      rstd[r] = measured[rows[r]].rstd();
    }
    return BackwardContract.of(
        choice,
        kept,
        groups(drawn.z, rows),
        groups(drawn.dy, rows),
        mean,
        rstd,
        groups(drawn.dresidual, rows),
        drawn.dx.type());
  }

  private double[][] groups(Operand of, int[] rows) {
    return of == null
        ? null
        : IntStream.of(rows).mapToObj(i -> group(of, i)).toArray(double[][]::new);
  }

  private double[] group(Operand of, int i) {
    int n = of.width() / groups;
    return Arrays.copyOfRange(of.rows()[i / groups], i % groups * n, (i % groups + 1) * n);
  }

  /** A norm's part, to the arithmetic's type, and with an offset that is added in that. */
  private double[] parameter(Operand of, int norm, int norms, double offset, boolean float64) {
    if (of == null) {
      return null;
    }
    double[] all = of.rows()[drawn.isApart() ? 0 : norm];
    int n = drawn.isApart() ? all.length / norms : all.length;
    int from = drawn.isApart() ? norm * n : 0;
    return Arrays.stream(all, from, from + n)
        .map(v -> float64 ? v : (float) v)
        .map(v -> offset == 0 ? v : float64 ? v + offset : (float) v + (float) offset)
        .toArray();
  }
}
