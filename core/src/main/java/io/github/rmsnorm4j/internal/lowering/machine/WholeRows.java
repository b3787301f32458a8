package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.KeptNumbers;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.backend.NormColumns;
import io.github.rmsnorm4j.internal.backend.Pool;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The rows of one thread, by one kernel of machine code that does all steps of a row. */
final class WholeRows implements Worker {
  /**
   * Elements of one call of a kernel if rows are in arrays, unless one row has more. The garbage
   * collector has to wait for the end of such a call, ten to twenty microseconds.
   */
  private static final int PIECE = 1 << 15;

  /** Likewise, of a backward pass. */
  private static final int BACKWARD_PIECE = 1 << 13;

  private static final Pool<WholeRows> POOL = new Pool<>(WholeRows::new);

  /** A program as one kernel. */
  record OneKernel(MachineKernel kernel) implements MachineProgram {
    @Override
    public Worker begin(Call call) {
      WholeRows rows = POOL.take();
      try {
        rows.begin(call, kernel);
        return rows;
      } catch (RuntimeException | Error e) {
        rows.close();
        throw e;
      }
    }
  }

  private final MachineFrame frame = new MachineFrame();
  private final ThreadMemory memory = new ThreadMemory();

  /** By place: the addresses of sums over rows. */
  private final long[] addresses = new long[Tensor.Access.COLUMN.places()];

  /** The key of the norm's columns that the frame is set for, or null. */
  private Object setFor;

  /** Whether it is set for the norm's gain, and for its bias. */
  private boolean gainSet;

  private boolean biasSet;
  private Call call;
  private MachineKernel kernel;
  private int width;

  /** Rows at one stride; more than there are if all rows are. */
  private long period;

  /** Elements of one call of the kernel if rows are in arrays. */
  private int piece;

  /** Rows of one call of the kernel, at most. */
  private int most;

  /** The first row of the last call of the kernel, how many there are, and how many it has done. */
  private long first;

  private int rows;

  private int done;

  private void begin(Call call, MachineKernel kernel) {
    this.call = call;
    this.kernel = kernel;
    width = call.choices().width();
    if (!isSet(call.ofNorm())) {
      set(call.choices());
    }
    period = call.period();
    memory.reserve(call);
    piece = call.rows(Backward.DY) == null ? PIECE : BACKWARD_PIECE;
    most = MachineFrame.MAX_ROWS;
    if (kernel.has(Forward.GATED)) {
      long bytes = (long) width * (call.float64() ? Double.BYTES : Float.BYTES);
      most = memory.pass(frame, Forward.GATED, bytes, kernel.together(most));
    }
  }

  private boolean isSet(NormColumns ofNorm) {
    return ofNorm != null
        && setFor == ofNorm.key
        && (gainSet || call.column(Forward.GAIN) == null)
        && (biasSet || call.column(Forward.BIAS) == null);
  }

  /** Sets what is the same for all calls of a norm with its own gain and bias. */
  private void set(NormChoices norm) {
    setFor = null;
    frame.setWidth(width, norm.part());
    frame.set(Forward.K, norm.part());
    frame.set(Forward.EPSILON, norm.epsilon());
    gainSet = point(Forward.GAIN);
    biasSet = point(Forward.BIAS);
    setFor = call.ofNorm() == null ? null : call.ofNorm().key;
  }

  /** Points the frame at a gain or bias; returns whether it is where the norm always has it. */
  private boolean point(Tensor column) {
    Object numbers = call.column(column);
    if (numbers == null) {
      return false;
    }
    MemorySegment kept = call.columnOfNorm(column);
    MemorySegment there = kept == null ? memory.copy(column, numbers, width) : kept;
    frame.point(column, there.address());
    return kept != null;
  }

  @Override
  public void close() {
    frame.clear();
    memory.shrink();
    call = null;
    kernel = null;
    if (!POOL.giveBack(this)) {
      frame.close();
      memory.close();
    }
  }

  @Override
  public long run(long from, long to, Object[] sums) {
    if (sums != null) {
      memory.take(sums, width, addresses);
      for (Tensor sum : ThreadMemory.SUMS) {
        frame.point(sum, addresses[sum.place()]);
      }
    }
    place(from);
    int most = Math.min(this.most, frame.mostRows(piece, width));
    long row = from;
    while (true) {
      first = row;
      rows = (int) Math.min(most, to - row);
      KeptNumbers.takeGiven(call, frame, row, rows);
      done = kernel.run(frame, rows);
      KeptNumbers.keep(call, frame, row, done);
      row += done;
      if (row == to || done < rows) {
        break;
      }
      place(row);
    }
    memory.giveBack(sums, width);
    return row - from;
  }

  @Override
  public int stoppedAt(Frame into) {
    long atOneStride = period - (first + done) % period;
    int together = kernel.together((int) Math.min(atOneStride, rows - done));
    frame.copyNumbers(done, together, into);
    return together;
  }

  @Override
  public boolean crossesPeriods() {
    return true;
  }

  private void place(long row) {
    boolean hasPeriods = period < Long.MAX_VALUE;
    if (hasPeriods) {
      frame.setPeriod(period - row % period, period);
    }
    List<Tensor> tensors = call.formula().rows();
    for (int i = 0; i < tensors.size(); i++) {
      Tensor tensor = tensors.get(i);
      RowMemory rows = call.rows(tensor);
      if (rows != null) {
        MemorySegment segment = rows.segment();
        boolean isNative = rows.access() == RowMemory.Access.NATIVE;
        long offset = (isNative ? segment.address() : 0) + rows.offset(row);
        frame.place(tensor, isNative ? null : segment, offset, rows.stride());
        if (hasPeriods) {
          long jump = rows.period() == 0 ? 0 : rows.outerStride() - period * rows.stride();
          frame.jump(tensor, jump);
        }
      }
    }
  }
}
