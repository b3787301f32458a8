package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;

/** Runs a checked call on as many threads as pay. */
public final class ForwardRunner {
  /**
   * Bytes read and written for which one more thread pays. docs/performance.md has measurements
   * with two threads.
   */
  private static final long BYTES_PER_THREAD = 1 << 20;

  private ForwardRunner() {}

  /** Normalises all rows; returns when they are written. */
  public static void run(ForwardCall call, ForwardPlan plan, long rows, int threads) {
    int elementBytes = call.x().type().bytes() + call.y().type().bytes();
    if (call.residual() != null) {
      elementBytes += 2 * call.residual().type().bytes();
    }
    double bytes = (double) rows * call.choices().width() * elementBytes;
    int useful = Math.clamp((long) (bytes / BYTES_PER_THREAD), 1, threads);
    boolean isLong = plan.machine != null && call.choices().width() > RowSum.SUPER_BLOCK;
    try (LongColumns columns = isLong ? columns(call) : null) {
      if (useful == 1) {
        rows(call, plan, columns, 0, rows);
      } else {
        RowScheduler.run(rows, useful, (from, to) -> rows(call, plan, columns, from, to));
      }
    }
  }

  private static void rows(
      ForwardCall call, ForwardPlan plan, LongColumns columns, long from, long to) {
    if (plan.machine != null) {
      try (MachinePass pass = MachinePass.open(call, plan, columns)) {
        pass.run(from, to);
      }
      return;
    }
    try (ForwardPass pass = ForwardPass.open(call, plan)) {
      pass.run(from, to);
    }
  }

  private static LongColumns columns(ForwardCall call) {
    return new LongColumns(call.ofNorm(), call.gain(), call.bias(), call.choices().width());
  }
}
