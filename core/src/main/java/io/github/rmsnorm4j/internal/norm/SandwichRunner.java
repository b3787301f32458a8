package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;

/**
 * Runs two checked calls, of which the second takes the output of the first: chunk by chunk, so
 * that the rows between them stay in a cache.
 */
public final class SandwichRunner {
  private SandwichRunner() {}

  /**
   * One of the two calls.
   *
   * @param call its rows between the norms stand for those of a chunk
   * @param plans of its norm
   * @param groups of each row: so many rows of the call are one row of the caller
   */
  public record Part(Call call, Plans plans, int groups) {
    private Plan plan(long rows) {
      return plans.of(call, rows * groups);
    }
  }

  /** Does all rows of the caller; returns when they are written. */
  public static void run(Part first, Part second, long rows, int threads) {
    Plan one = first.plan(rows);
    Plan other = second.plan(rows);
    int useful = Runner.useful(second.call, rows * second.groups, threads);
    if (useful == 1) {
      rows(first, one, second, other, 0, rows);
    } else {
      RowScheduler.run(rows, useful, (from, to) -> rows(first, one, second, other, from, to));
    }
  }

  private static void rows(Part first, Plan one, Part second, Plan other, long from, long to) {
    int width = first.groups * first.call.choices().width();
    try (RowsBetween between = RowsBetween.open(first.call.rows(Forward.Y).type(), width)) {
      Call writes = first.call.withRows(Forward.Y, between.written(first.groups));
      Call reads = second.call.withRows(Forward.X, between.read(second.groups));
      try (Worker writer = one.compiled.open(writes);
          Worker reader = other.compiled.open(reads)) {
        long end;
        for (long row = from; row < to; row = end) {
          end = Math.min(to, row + between.rows());
          between.moveTo(row);
          Runner.rows(writes, one, writer, row * first.groups, end * first.groups, null);
          Runner.rows(reads, other, reader, row * second.groups, end * second.groups, null);
        }
      }
    }
  }
}
