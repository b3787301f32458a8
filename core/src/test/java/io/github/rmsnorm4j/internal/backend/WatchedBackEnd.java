package io.github.rmsnorm4j.internal.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A back end that is watched: whether it refuses a call, what rows are done by, and whether that
 * stops before rows that are out of range.
 */
final class WatchedBackEnd implements BackEnd {
  /** Rows from this width on are added to gradients strip by strip, by machine code. */
  private static final int STRIPPED_WIDTH = 2048;

  private final BackEnd backEnd;
  private final Set<String> seen;

  /** Why it refused the last call; null if it did not. */
  String refusal;

  /**
   * Watches a back end.
   *
   * @param seen takes the class of each worker and how many rows it had, that it stopped, and why
   *     at a float64 row
   */
  WatchedBackEnd(BackEnd backEnd, Set<String> seen) {
    this.backEnd = backEnd;
    this.seen = seen;
  }

  @Override
  public Compiled compile(Call call, OutputStores stores) throws Refusal {
    try {
      Compiled compiled = backEnd.compile(call, stores);
      return new Compiled() {
        @Override
        public Worker open(Call opened) {
          return new Watched(opened, compiled.open(opened), seen);
        }

        @Override
        public void order(Object sums, int width) {
          compiled.order(sums, width);
        }
      };
    } catch (Refusal refused) {
      refusal = refused.getMessage();
      throw refused;
    }
  }

  private static final class Watched implements Worker {
    private final Call call;
    private final Worker worker;
    private final Set<String> seen;

    /** The row before which it stopped, and the end of the rows that it was given. */
    private long row;

    private long end;

    Watched(Call call, Worker worker, Set<String> seen) {
      this.call = call;
      this.worker = worker;
      this.seen = seen;
    }

    private String name() {
      return worker.getClass().getSimpleName();
    }

    @Override
    public long run(long from, long to, Object[] sums) {
      long done = worker.run(from, to, sums);
      row = from + done;
      end = to;
      assertThat(done).isBetween(0L, to - from);
      seen.add(name());
      if (addsToStrips(to - from)) {
        seen.add(name() + " of strips");
      }
      // Rows of 4096 elements go through kernels together, at most 64.
      long chunks = (to - from) / Math.clamp(4096 / call.choices().width(), 1, 64);
      if (chunks > 1) {
        seen.add(name() + (chunks < 32 ? " of chunks" : " of many chunks"));
      }
      return done;
    }

    /** Whether the call has gradients that several rows are added to, strip by strip. */
    private boolean addsToStrips(long rows) {
      return call.formula() instanceof BackwardFormula formula
          && (formula.gainGradient() || formula.biasGradient())
          && call.choices().isWhole()
          && call.choices().width() >= STRIPPED_WIDTH
          && rows > 1;
    }

    @Override
    public int stoppedAt(Frame into) {
      int rows = worker.stoppedAt(into);
      assertThat((long) rows).isBetween(1L, end - row);
      seen.add(name() + " stops");
      if (addsToStrips(rows)) {
        seen.add(name() + " of strips stops");
      }
      for (int r = 0; call.float64() && r < rows; r++) {
        double squares = into.of(Forward.SQUARES)[r];
        if (squares < Forward.TINY_SUM || isFinite(row + r)) {
          String direction = call.rows(Backward.DY) == null ? "forward " : "backward ";
          seen.add(direction + (squares < Forward.TINY_SUM ? "tiny squares" : "great squares"));
        }
      }
      return rows;
    }

    private boolean isFinite(long row) {
      RowMemory x = call.rows(Forward.X);
      MemorySegment elements = x.segment().asSlice(x.offset(row));
      return IntStream.range(0, call.choices().width())
          .allMatch(i -> Double.isFinite(x.type().get(elements, i)));
    }

    @Override
    public void close() {
      worker.close();
    }
  }
}
