package io.github.rmsnorm4j;

/** Checks the arguments of calls with row statistics, and with sums that become these. */
final class StatisticArguments {
  private StatisticArguments() {}

  static void requireNoGate(Norm norm) {
    Gate gate = norm.spec().gate();
    if (gate != Gate.NONE) {
      throw new IllegalArgumentException(
          "gate is " + gate + ", sums and statistics need a norm without a gate");
    }
  }

  static void checkInput(Norm norm, Rows x) {
    requireNoGate(norm);
    CallOperands.requireWidth(CallOperand.X, x, norm.width());
    NormArguments.requireAccess(x, "x");
  }

  /**
   * Statistics must be those that the norm has, and long enough.
   *
   * @param rows the groups of all rows
   */
  static void check(Norm norm, RowStatistics statistics, long rows, String name) {
    boolean hasMean = NormArguments.requireNonNull(statistics, name).mean() != null;
    if (hasMean != norm.spec().isCentred()) {
      throw new IllegalArgumentException(
          (name + (hasMean ? " has a mean, " : " has no mean, "))
              + ("of " + norm + " it must have " + (hasMean ? "rstd alone" : "mean and rstd")));
    }
    long ofGroup = rows / norm.groups;
    NormArguments.requireRoom(statistics.mean(), ofGroup, norm.groups, "mean");
    NormArguments.requireRoom(statistics.rstd(), ofGroup, norm.groups, "rstd");
  }

  static void requireApart(RowStatistics statistics, CallOperand other, Object memory) {
    CallOperands.requireApart(CallOperand.MEAN, statistics.mean(), other, memory);
    CallOperands.requireApart(CallOperand.RSTD, statistics.rstd(), other, memory);
  }

  /** Sums of columns are those of norms whose statistic is that of whole rows or groups. */
  static void requireSums(Norm norm) {
    requireNoGate(norm);
    if (!norm.spec().part().isWhole()) {
      throw new IllegalArgumentException(
          "part is " + norm.spec().part() + ", of a norm with sums of columns it must be 1");
    }
  }

  private static int sumsOfRow(Norm norm) {
    return norm.spec().isCentred() ? 2 : 1;
  }

  static void requireCount(Norm norm, double[] sums, long rows) {
    long count = sumsOfRow(norm) * rows;
    if (NormArguments.requireNonNull(sums, "sums").length != count) {
      throw new IllegalArgumentException(
          ("sums has " + sums.length + " elements, it must have " + count)
              + (": " + sumsOfRow(norm) + " for each of " + rows)
              + (norm.groups > 1 ? " groups" : " rows"));
    }
  }

  /** The rows, or groups of all rows, that have these sums. */
  static int rows(Norm norm, double[] sums) {
    int ofRow = sumsOfRow(norm);
    int each = ofRow * norm.groups;
    if (NormArguments.requireNonNull(sums, "sums").length % each != 0) {
      throw new IllegalArgumentException(
          "sums has " + sums.length + " elements, it must have " + each + " for each row");
    }
    return sums.length / ofRow;
  }

  static void requireColumns(Norm norm, long columns) {
    if (columns < norm.groupWidth) {
      throw new IllegalArgumentException(
          ("columns is " + columns + ", of " + norm)
              + (" it must be at least " + norm.groupWidth + ", the elements that it sums"));
    }
    if (norm.spec().epsilon().isEmpty()) {
      throw new IllegalArgumentException(
          "epsilon is that of the type of the rows, of a norm with sums it must be a number");
    }
  }
}
