package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.RowsBetween;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import io.github.rmsnorm4j.internal.quantized.QuantizedChunks;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Quantises rows of a checked call, on as many threads as pay.
 *
 * @param codes what is written
 */
public record QuantizedRunner(CodeMemory codes, CodeRule rule) {
  /**
   * Quantises the output of a norm; returns when all rows are written.
   *
   * @param call its output is the caller's, or stands for rows of a chunk
   * @param groups of each row: so many rows of the call are one row of the caller
   * @param output the caller's; null if it is not wanted
   * @param machineBits of a vector of machine code; 0 where there is to be none
   */
  public void run(
      Call call,
      Plans plans,
      long rows,
      int groups,
      int threads,
      @Nullable RowMemory output,
      int machineBits) {
    Plan plan = plans.of(call, rows * groups);
    int bits = plan.isForStart() ? 0 : machineBits;
    int useful = Runner.useful(call, rows * groups, threads);
    if (useful == 1) {
      rows(call, plan, 0, rows, groups, output, bits);
    } else {
      RowScheduler.run(
          rows, useful, (from, to) -> rows(call, plan, from, to, groups, output, bits));
    }
  }

  private void rows(
      Call call, Plan plan, long from, long to, int groups, @Nullable RowMemory output, int bits) {
    RowMemory any = call.rowsOf(Forward.Y);
    try (QuantizedChunks chunks = QuantizedChunks.open(codes, rule, bits);
        RowsBetween between =
            output == null
                ? RowsBetween.open(any, codes.width(), QuantizedChunks.ELEMENTS)
                : null) {
      Call own = between == null ? call : call.withRows(Forward.Y, between.written(groups));
      RowMemory written = between == null ? output : between.read(1);
      try (Worker worker = plan.compiled.open(own)) {
        int rows;
        for (long row = from; row < to; row += rows) {
          rows = (int) Math.min(chunks.rows(), to - row);
          if (between != null) {
            between.moveTo(row);
          }
          Runner.rows(own, plan, worker, row * groups, (row + rows) * groups, null);
          chunks.encode(written, row, rows);
        }
      }
    }
  }

  /**
   * Quantises rows of a caller as they are.
   *
   * @param machineBits of a vector of machine code, 0 for none; asked where kernels pay
   */
  public void run(RowMemory x, long rows, int threads, IntSupplier machineBits) {
    double bytes = (double) rows * codes.width() * x.type().bytes();
    int bits = bits(rows * codes.width(), machineBits);
    RowScheduler.run(rows, Runner.useful(bytes, threads), (from, to) -> rows(x, from, to, bits));
  }

  private int bits(long elements, IntSupplier machineBits) {
    Payoff.QUANTIZE.count(elements);
    if (elements > Payoff.ELEMENTS) {
      return machineBits.getAsInt();
    }
    return Payoff.QUANTIZE.pays(elements, false) ? CodeKernels.ready(codes, rule, machineBits) : 0;
  }

  private void rows(RowMemory x, long from, long to, int bits) {
    try (QuantizedChunks chunks = QuantizedChunks.open(codes, rule, bits)) {
      int rows;
      for (long row = from; row < to; row += rows) {
        rows = (int) Math.min(chunks.rows(), to - row);
        chunks.encode(x, row, rows);
      }
    }
  }
}
