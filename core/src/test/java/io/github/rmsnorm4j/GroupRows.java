package io.github.rmsnorm4j;

import java.util.Arrays;
import java.util.stream.IntStream;

/** The groups of all rows of a backward pass, one row after the other, for the contract. */
record GroupRows(
    double[][] kept, double[][] dy, double[] mean, double[] rstd, double[][] dresidual) {

  /** One group of a row. */
  static double[] group(double[] row, int group, int groups) {
    int n = row.length / groups;
    return Arrays.copyOfRange(row, group * n, (group + 1) * n);
  }

  /** All groups of all rows. */
  static double[][] groups(double[][] rows, int groups) {
    return IntStream.range(0, rows.length * groups)
        .mapToObj(i -> group(rows[i / groups], i % groups, groups))
        .toArray(double[][]::new);
  }

  /** Some groups, one after the other, from one on. */
  static double[] joined(double[][] of, int from, int groups) {
    return Arrays.stream(of, from, from + groups).flatMapToDouble(Arrays::stream).toArray();
  }

  /**
   * The gradients of whole rows.
   *
   * @param apart whether gain and bias have a part for each group: then each is a norm of its own
   */
  BackwardContract.Result gradients(
      BackwardContract.Choice choice, int groups, boolean apart, ElementType out) {
    double[][] dx = new double[kept.length][];
    int norms = apart ? groups : 1;
    double[][] dgain = new double[norms][];
    double[][] dbias = new double[norms][];
    for (int g = 0; g < norms; g++) {
      int[] rows = IntStream.iterate(g, i -> i < kept.length, i -> i + norms).toArray();
      BackwardContract.Result result = of(rows, choice, g, norms, out);
      for (int r = 0; r < rows.length; r++) {
        dx[rows[r]] = result.dx()[r];
      }
      dgain[g] = result.dgain();
      dbias[g] = result.dbias();
    }
    double[][] wide = new double[kept.length / groups][];
    Arrays.setAll(wide, r -> joined(dx, r * groups, groups));
    return new BackwardContract.Result(wide, joined(dgain, 0, norms), joined(dbias, 0, norms));
  }

  /** The gradients of some of the rows, with a part of gain and bias. */
  private BackwardContract.Result of(
      int[] rows, BackwardContract.Choice choice, int group, int norms, ElementType out) {
    double[] gain = choice.gain() == null ? null : group(choice.gain(), group, norms);
    double[] bias = choice.bias() == null ? null : group(choice.bias(), group, norms);
    BackwardContract.Choice part =
        new BackwardContract.Choice(
            choice.centred(),
            choice.part(),
            choice.count(),
            choice.epsilon(),
            choice.placement(),
            choice.float64(),
            choice.fromOutput(),
            gain,
            bias);
    return BackwardContract.of(
        part,
        pick(kept, rows),
        pick(dy, rows),
        Arrays.stream(rows).mapToDouble(i -> mean[i]).toArray(),
        Arrays.stream(rows).mapToDouble(i -> rstd[i]).toArray(),
        dresidual == null ? null : pick(dresidual, rows),
        out);
  }

  private static double[][] pick(double[][] of, int[] rows) {
    return Arrays.stream(rows).mapToObj(i -> of[i]).toArray(double[][]::new);
  }
}
