package io.github.rmsnorm4j.internal.lowering.machine;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Listings;
import io.github.rmsnorm4j.internal.machine.Code;
import io.github.rmsnorm4j.internal.machine.ExecutableMemory;
import io.github.rmsnorm4j.internal.machine.MadeCode;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Stages of a norm as machine code. */
final class MachineKernel implements MadeCode.Made {
  /** Rows up to this width have kernels of their own, if they are whole groups of 32 elements. */
  private static final int NARROW = 256;

  /** Rows from this width on add to strips of columns, so many together. */
  private static final int STRIPPED_WIDTH = 2048;

  static final int STRIPPED = 8;

  private static final AtomicInteger COUNT = new AtomicInteger();

  private static final MadeCode<Target, MachineKernel> MADE =
      new MadeCode<>() {
        @Override
        protected MachineKernel make(Target target) {
          return new MachineKernel(target);
        }
      };

  private final Target target;
  private final KernelCall call;

  /** The tensors of elements that its stages read or write. */
  private final List<Tensor> rows;

  private final List<Stage.Sum> sums;

  /** The lanes of the first stage's sums, in the order in which they are in memory. */
  private final int[] lanes = new int[SumOrder.LANES];

  private MachineKernel(Target target) {
    this.target = target;
    Stage first = target.stages().getFirst();
    sums = first.sums();
    for (int at = 0; at < lanes.length; at++) {
      lanes[at] = target.lane(first, at);
    }
    Code made = MachineCode.of(target);
    if (Listings.areWanted()) {
      String name = target.name() + "_" + COUNT.incrementAndGet();
      Listings.write(name, made.listing(), target.stages());
    }
    rows = target.rows();
    call = new KernelCall(ExecutableMemory.of(made), rows);
  }

  /**
   * The kernel of stages, one after the other for each row; null where there is no machine code for
   * one of them, or no memory for it now.
   *
   * @param bits of a vector
   * @param width of the rows; 0 for any
   */
  static MachineKernel of(List<Stage> stages, int bits, int width, boolean streams) {
    return of(stages, bits, width, streams, false);
  }

  /** The same kernel, if {@code periods} for rows that are not all at one stride. */
  static MachineKernel of(
      List<Stage> stages, int bits, int width, boolean streams, boolean periods) {
    Target atOneStride = target(stages, bits, width, streams);
    Target target = periods ? atOneStride.withPeriods() : atOneStride;
    MachineKernel kernel = MADE.of(target);
    // A kernel for one width needs more registers: several rows wait for one another.
    return kernel == null && target.width() > 0 ? of(stages, bits, 0, streams, periods) : kernel;
  }

  /** Whether a kernel has non-temporal stores for an output of which only elements are aligned. */
  static boolean peels(List<Stage> stages, int bits, int width) {
    return target(stages, bits, width, true).peels();
  }

  static Target target(List<Stage> stages, int bits, int width, boolean streams) {
    boolean narrow = width > 0 && width <= NARROW && width % SumOrder.LANES == 0;
    int group = narrow ? bits / Double.SIZE : hasStrips(stages, width) ? STRIPPED : 1;
    boolean bfloat16 = bits == 512 && Machine.here().bfloat16();
    int prefetched = streams ? Machine.here().prefetched() : 0;
    return new Target(
        stages, bits, narrow ? width : 0, group, bfloat16, streams, prefetched, false);
  }

  /** Whether a whole program adds to columns that do not stay in the first-level cache. */
  private static boolean hasStrips(List<Stage> stages, int width) {
    return width >= STRIPPED_WIDTH && !stages.getLast().columnSums().isEmpty();
  }

  /**
   * How many rows a kernel has summed but not written, where it has stopped.
   *
   * @param left rows that are not done
   */
  int together(int left) {
    return target.together(left);
  }

  @Override
  public MemorySegment code() {
    return call.code();
  }

  @Override
  public boolean passes() {
    return Trial.passes(target, this);
  }

  /** Whether its stages read or write rows. */
  boolean has(Tensor tensor) {
    return rows.contains(tensor);
  }

  /** The row sums of its first stage. */
  List<Stage.Sum> sums() {
    return sums;
  }

  /**
   * Leaves the lanes of the row that was summed last with those of a plain frame's first row. Rows
   * of any width have them.
   */
  void copyLanes(MachineFrame from, Frame to) {
    for (int s = 0; s < sums.size(); s++) {
      for (int at = 0; at < SumOrder.LANES; at++) {
        long address = Area.totals(s) + (long) at * Double.BYTES;
        to.lanes[s][lanes[at]] = from.area.get(JAVA_DOUBLE, address);
      }
    }
  }

  /** Does the first n rows of a frame, or those before the first one that is out of range. */
  int run(MachineFrame frame, int rows) {
    return run(frame, rows, KernelCall.NATIVE);
  }

  /**
   * The same with native rows that are relative to bases.
   *
   * @param bases used where no rows are in arrays
   */
  int run(MachineFrame frame, int rows, long[] bases) {
    frame.area.set(JAVA_LONG, Area.ROWS, rows);
    try {
      return call.rows(frame, bases);
    } finally {
      // The code has the address of its memory, which keeps nothing alive.
      Reference.reachabilityFence(frame);
    }
  }
}
