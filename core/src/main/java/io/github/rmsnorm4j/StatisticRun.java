package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Pool;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.ForwardPhase.Phase;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import java.util.Map;
import java.util.Set;

/** Calls that compute the statistic of rows without their output, or the output without it. */
final class StatisticRun {
  /** Their x0 is 0. */
  private static final Pool<Frame> FRAMES = new Pool<>(Frame::new);

  private StatisticRun() {}

  static void statistics(Norm norm, Rows x, RowStatistics into) {
    StatisticArguments.checkInput(norm, x);
    StatisticArguments.check(norm, into, x.rows() * norm.groups, "into");
    StatisticArguments.requireApart(into, CallOperand.X, x);
    new ForwardCall(norm.source(), x, null)
        .compute(Phase.STATISTIC, Call.numbers(into.mean(), into.rstd()));
  }

  static void sums(Norm norm, Rows x, double[] sums) {
    StatisticArguments.checkInput(norm, x);
    StatisticArguments.requireSums(norm);
    long rows = x.rows() * norm.groups;
    StatisticArguments.requireCount(norm, sums, rows);
    CallOperands.requireApart(CallOperand.SUMS, sums, CallOperand.X, x);
    boolean centred = norm.spec().isCentred();
    double[][] kept = new double[Tensor.Access.ROW.places()][];
    double[] squares = centred ? new double[(int) rows] : sums;
    kept[Forward.SUM.place()] = centred ? sums : null;
    kept[Forward.SQUARES.place()] = squares;
    new ForwardCall(norm.source(), x, null).compute(Phase.SUMS, kept);
    if (centred) {
      System.arraycopy(squares, 0, sums, (int) rows, (int) rows);
    }
  }

  static void apply(Norm norm, Rows x, RowStatistics given, Rows y) {
    StatisticArguments.requireNoGate(norm);
    NormArguments.requireNonNull(given, "given");
    NormArguments.requireNonNull(x, "x");
    StatisticArguments.check(norm, given, x.rows() * norm.groups, "given");
    ForwardCall call = new ForwardCall(norm, x, y);
    ForwardArguments.check(call);
    StatisticArguments.requireApart(given, CallOperand.Y, y);
    call.compute(Phase.OUTPUT, Call.numbers(given.mean(), given.rstd()));
  }

  static void statistics(Norm norm, double[] sums, long columns, RowStatistics into) {
    StatisticArguments.requireSums(norm);
    int rows = StatisticArguments.rows(norm, sums);
    StatisticArguments.requireColumns(norm, columns);
    StatisticArguments.check(norm, into, rows, "into");
    StatisticArguments.requireApart(into, CallOperand.SUMS, sums);
    roots(norm, sums, rows, columns, into);
  }

  /** From sums to mean and rstd in float64, as a norm of float64 rows has them. */
  private static void roots(Norm norm, double[] sums, int rows, long columns, RowStatistics into) {
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(true, () -> roots(norm, sums, rows, columns, into))) {
      return;
    }
    ElementType type = ElementType.FLOAT64;
    Storage storage = new Storage(true, Set.of(), Map.of(Forward.X, type));
    ForwardFormula whole = ForwardFormula.of(norm.spec(), type, null, false);
    PlainKernel roots = new PlainKernel(new Forward(storage, whole, false).roots(), 0);
    Frame frame = FRAMES.take();
    frame.set(Forward.K, (double) columns);
    frame.set(Forward.EPSILON, norm.choices(type).epsilon());
    int n;
    for (int row = 0; row < rows; row += n) {
      n = Math.min(Frame.MAX_ROWS, rows - row);
      double[] mean = into.mean();
      if (mean != null) {
        System.arraycopy(sums, row, frame.of(Forward.SUM), 0, n);
      }
      System.arraycopy(sums, sums.length - rows + row, frame.of(Forward.SQUARES), 0, n);
      roots.run(frame, n, 0, 0);
      if (mean != null) {
        System.arraycopy(frame.of(Forward.MEAN), 0, mean, row, n);
      }
      System.arraycopy(frame.of(Forward.RSTD), 0, into.rstd(), row, n);
    }
    FRAMES.giveBack(frame);
  }
}
