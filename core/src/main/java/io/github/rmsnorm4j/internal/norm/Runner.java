package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.StagedRows;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import org.jspecify.annotations.Nullable;

/** Runs a checked call on as many threads as pay. */
public final class Runner {
  /**
   * Bytes read and written for which one more thread pays. docs/benchmarks has measurements with
   * two threads.
   */
  private static final long BYTES_PER_THREAD = 1 << 20;

  private Runner() {}

  /** Does all rows; returns when they are written. */
  public static void run(Call call, Plans plans, long rows, int threads) {
    run(call, plans.of(call, rows), rows, threads);
  }

  /** Does all rows if kernels do them. If plain Java would, it returns false, and does not wait. */
  public static boolean runKernels(Call call, Plans plans, long rows, int threads) {
    Plan plan = plans.of(call, rows, false);
    if (!plan.isForStart()) {
      run(call, plan, rows, threads);
    }
    return !plan.isForStart();
  }

  private static void run(Call call, Plan plan, long rows, int threads) {
    int useful = useful(call, rows, threads);
    if (useful == 1) {
      rows(call, plan, 0, rows);
    } else {
      RowScheduler.run(rows, useful, (from, to) -> rows(call, plan, from, to));
    }
  }

  /** The threads that pay: those that have enough bytes to read and write. */
  static int useful(Call call, long rows, int threads) {
    if (threads == 1) {
      return 1;
    }
    Formula formula = call.formula();
    int elementBytes = 0;
    for (int i = 0; i < formula.rows().size(); i++) {
      RowMemory of = call.rows(formula.rows().get(i));
      elementBytes += of == null || of.isRepeated() ? 0 : of.type().bytes();
    }
    RowMemory residual = call.rows(Forward.RESIDUAL);
    if (call.rows(Forward.Y) != null && residual != null) {
      elementBytes += residual.type().bytes(); // It is read and written.
    }
    return useful((double) rows * call.choices().width() * elementBytes, threads);
  }

  /** The threads that pay for so many bytes. */
  public static int useful(double bytes, int threads) {
    return Math.clamp((long) (bytes / BYTES_PER_THREAD), 1, threads);
  }

  private static void rows(Call call, Plan plan, long from, long to) {
    try (Worker worker = plan.compiled.open(call)) {
      rows(call, plan, worker, from, to, null);
    }
  }

  /** Does rows, as many at a time as are at one stride, if the worker needs that. */
  static void rows(
      Call call, Plan plan, Worker worker, long from, long to, @Nullable Object @Nullable [] sums) {
    long period = worker.crossesPeriods() ? Long.MAX_VALUE : call.period();
    long end;
    for (long row = from; row < to; row = end) {
      end = row + Math.min(to - row, period - row % period);
      atOneStride(call, plan, worker, row, end, sums);
    }
  }

  /** Does rows; plain Java continues where the worker stops. */
  private static void atOneStride(
      Call call, Plan plan, Worker worker, long from, long to, @Nullable Object @Nullable [] sums) {
    long row = from + worker.run(from, to, sums);
    while (row < to) {
      row += outOfRange(call, plan.plain(call), worker, row, sums);
      row += row < to ? worker.run(row, to, sums) : 0;
    }
  }

  private static int outOfRange(
      Call call,
      PlainBackEnd.Rows plain,
      Worker worker,
      long row,
      @Nullable Object @Nullable [] sums) {
    try (StagedRows rows = plain.open(call)) {
      int n = worker.stoppedAt(rows.frame());
      rows.resume(row, n, sums);
      return n;
    }
  }
}
