package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import io.github.rmsnorm4j.internal.quantized.QuantizedChunks;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** Runs a checked call whose output is quantised, on as many threads as pay. */
public final class QuantizedRunner {
  private QuantizedRunner() {}

  /**
   * Does all rows; returns when they are written.
   *
   * @param call its output is the caller's, or stands for rows of a chunk
   * @param groups of each row: so many rows of the call are one row of the caller
   * @param output the caller's; null if it is not wanted
   * @param machineBits of a vector of machine code; 0 where there is to be none
   */
  public static void run(
      Call call,
      Plans plans,
      long rows,
      int groups,
      int threads,
      @Nullable RowMemory output,
      CodeMemory codes,
      CodeRule rule,
      int machineBits) {
    Plan plan = plans.of(call, rows * groups);
    int bits = plan.isForStart() ? 0 : machineBits;
    int useful = Runner.useful(call, rows * groups, threads);
    if (useful == 1) {
      rows(call, plan, 0, rows, groups, output, codes, rule, bits);
    } else {
      RowScheduler.run(
          rows,
          useful,
          (from, to) -> rows(call, plan, from, to, groups, output, codes, rule, bits));
    }
  }

  private static void rows(
      Call call,
      Plan plan,
      long from,
      long to,
      int groups,
      @Nullable RowMemory output,
      CodeMemory codes,
      CodeRule rule,
      int bits) {
    try (QuantizedChunks chunks = QuantizedChunks.open(codes, rule, bits)) {
      RowMemory of = call.rowsOf(Forward.Y);
      Call own = output != null ? call : call.withRows(Forward.Y, chunks.output(of, groups));
      try (Worker worker = plan.compiled.open(own)) {
        int rows;
        for (long row = from; row < to; row += rows) {
          rows = (int) Math.min(chunks.rows(), to - row);
          chunks.moveTo(row);
          Runner.rows(own, plan, worker, row * groups, (row + rows) * groups, null);
          if (output != null) {
            chunks.encode(output, row, rows);
          } else {
            chunks.encodeOutput(row, rows);
          }
        }
      }
    }
  }

  /**
   * Quantises rows of a caller as they are.
   *
   * @param machineBits of a vector of machine code, 0 for none; asked where kernels pay
   */
  public static void run(
      RowMemory x,
      long rows,
      int threads,
      CodeMemory codes,
      CodeRule rule,
      IntSupplier machineBits) {
    double bytes = (double) rows * codes.width() * x.type().bytes();
    int useful = Runner.useful(bytes, threads);
    int bits = bits(rows * codes.width(), codes, rule, machineBits);
    RowScheduler.run(rows, useful, (from, to) -> rows(x, from, to, codes, rule, bits));
  }

  private static int bits(long elements, CodeMemory codes, CodeRule rule, IntSupplier machineBits) {
    Payoff.QUANTIZE.count(elements);
    if (elements > Payoff.ELEMENTS) {
      return machineBits.getAsInt();
    }
    return Payoff.QUANTIZE.pays(elements, false) ? CodeKernels.ready(codes, rule, machineBits) : 0;
  }

  private static void rows(
      RowMemory x, long from, long to, CodeMemory codes, CodeRule rule, int bits) {
    try (QuantizedChunks chunks = QuantizedChunks.open(codes, rule, bits)) {
      int rows;
      for (long row = from; row < to; row += rows) {
        rows = (int) Math.min(chunks.rows(), to - row);
        chunks.encode(x, row, rows);
      }
    }
  }
}
