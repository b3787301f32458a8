package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import io.github.rmsnorm4j.internal.quantized.QuantizedChunks;

/** Runs a checked call whose output is quantised, on as many threads as pay. */
public final class QuantizedRunner {
  private QuantizedRunner() {}

  /**
   * Does all rows; returns when they are written.
   *
   * @param call its output is the caller's, or stands for rows of a chunk
   */
  public static void run(
      Call call, Plans plans, long rows, int threads, CodeMemory codes, CodeRule rule) {
    Plan plan = plans.of(call, rows);
    int useful = Runner.useful(call, rows, threads);
    if (useful == 1) {
      rows(call, plan, 0, rows, codes, rule);
    } else {
      RowScheduler.run(rows, useful, (from, to) -> rows(call, plan, from, to, codes, rule));
    }
  }

  private static void rows(
      Call call, Plan plan, long from, long to, CodeMemory codes, CodeRule rule) {
    RowMemory output = call.rows(Forward.Y);
    boolean isOfCaller = output.window() == null;
    try (QuantizedChunks chunks = QuantizedChunks.open(codes, rule)) {
      Call own = isOfCaller ? call : call.withOutput(chunks.output(output.type()));
      try (Worker worker = plan.compiled.open(own)) {
        int rows;
        for (long row = from; row < to; row += rows) {
          rows = (int) Math.min(chunks.rows(), to - row);
          chunks.moveTo(row);
          Runner.rows(own, plan, worker, row, row + rows, null);
          if (isOfCaller) {
            chunks.encode(output, row, rows);
          } else {
            chunks.encodeOutput(row, rows);
          }
        }
      }
    }
  }

  /** Quantises rows of a caller as they are. */
  public static void run(RowMemory x, long rows, int threads, CodeMemory codes, CodeRule rule) {
    double bytes = (double) rows * codes.width() * x.type().bytes();
    int useful = Runner.useful(bytes, threads);
    RowScheduler.run(rows, useful, (from, to) -> rows(x, from, to, codes, rule));
  }

  private static void rows(RowMemory x, long from, long to, CodeMemory codes, CodeRule rule) {
    try (QuantizedChunks chunks = QuantizedChunks.open(codes, rule)) {
      int rows;
      for (long row = from; row < to; row += rows) {
        rows = (int) Math.min(chunks.rows(), to - row);
        chunks.encode(x, row, rows);
      }
    }
  }
}
