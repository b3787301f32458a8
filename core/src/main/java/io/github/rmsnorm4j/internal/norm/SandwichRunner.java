package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.RowsBetween;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;

/**
 * Runs two checked calls, of which the second takes the output of the first: chunk by chunk, so
 * that the rows between them stay in a cache.
 */
public final class SandwichRunner {
  /** Bytes of a chunk, unless one row is longer. They stay in a second-level cache. */
  private static final int BYTES = 1 << 16;

  private SandwichRunner() {}

  /**
   * One of the two calls.
   *
   * @param call without the rows between the norms, which are those of a chunk
   * @param plans of its norm
   * @param groups of each row: so many rows of the call are one row of the caller
   */
  public record Part(Call call, Plans plans, int groups) {
    private Part withRows(Tensor tensor, RowMemory there) {
      return new Part(call.withRows(tensor, there), plans, groups);
    }

    private Plan plan(long rows) {
      return plans.of(call, rows * groups);
    }

    private void run(Plan plan, Worker worker, long from, long to) {
      Runner.rows(call, plan, worker, from * groups, to * groups, null);
    }
  }

  /** Does all rows of the caller; returns when they are written. */
  public static void run(Part writer, Part reader, long rows, int threads) {
    RowMemory x = writer.call.rowsOf(Forward.X);
    long elements = rows * writer.groups * writer.call.choices().width();
    boolean isNative =
        x.access() == RowMemory.Access.NATIVE
            && writer.plans.machineBits(elements) > 0
            && reader.plans.machineBits(elements) > 0;
    RowMemory any = RowsBetween.any(x.type(), isNative);
    Part first = writer.withRows(Forward.Y, any);
    Part second = reader.withRows(Forward.X, any);
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
    RowMemory any = first.call.rowsOf(Forward.Y);
    try (RowsBetween between = RowsBetween.open(any, width, BYTES / any.type().bytes())) {
      Part writes = first.withRows(Forward.Y, between.written(first.groups));
      Part reads = second.withRows(Forward.X, between.read(second.groups));
      try (Worker writer = one.compiled.open(writes.call);
          Worker reader = other.compiled.open(reads.call)) {
        long end;
        for (long row = from; row < to; row = end) {
          end = Math.min(to, row + between.rows());
          between.moveTo(row);
          writes.run(one, writer, row, end);
          reads.run(other, reader, row, end);
        }
      }
    }
  }
}
