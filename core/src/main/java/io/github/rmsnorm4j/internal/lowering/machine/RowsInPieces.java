package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Pool;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.StagedProgram;
import io.github.rmsnorm4j.internal.backend.StagedRows;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * The rows of one thread, by one kernel of machine code for each step. A frame of plain Java has
 * the numbers of the row, and says where the piece begins.
 */
final class RowsInPieces implements Worker {
  private static final Pool<StagedRows> POOL = new Pool<>(StagedRows::new);

  /** A program as kernels of its steps. */
  record KernelOfEachStep(StagedProgram program) implements MachineProgram {
    @Override
    public Worker begin(Call call) {
      StagedRows rows = StagedRows.open(POOL, call, program);
      try {
        return new RowsInPieces(rows, call);
      } catch (RuntimeException | Error e) {
        rows.close();
        throw e;
      }
    }
  }

  /** What is kept with the frame of plain Java. */
  static final class Memory implements Frame.Own {
    private final MachineFrame frame = new MachineFrame();
    private final ThreadMemory sums = new ThreadMemory();

    /** By place: the arrays that rows are in; null in native memory. */
    private final MemorySegment[] arrays = new MemorySegment[Tensor.Access.ELEMENT.places()];

    /** By place: the addresses of columns. */
    private final long[] columns = new long[Tensor.Access.COLUMN.places()];

    /** Points machine code at a piece of a row, and of the columns. */
    MachineFrame at(Frame piece, Tensor[] tensors) {
      for (Tensor tensor : tensors) {
        int slot = tensor.slot();
        if (tensor.access() == Tensor.Access.COLUMN) {
          frame.point(tensor, columns[tensor.place()] + piece.offset[slot]);
        } else {
          MemorySegment array = arrays[tensor.place()];
          long start = array == null ? 0 : array.address();
          frame.place(tensor, array, piece.offset[slot] - start, piece.stride[slot]);
        }
      }
      return frame;
    }

    @Override
    public void close() {
      frame.close();
      sums.close();
    }
  }

  private final StagedRows rows;
  private final Memory memory;
  private final int width;

  private RowsInPieces(StagedRows rows, Call call) {
    this.rows = rows;
    width = call.choices().width();
    Frame frame = rows.frame();
    if (frame.own == null) {
      frame.own = new Memory();
    }
    memory = (Memory) frame.own;
    memory.sums.reserve(call);
    memory.frame.set(Forward.K, call.choices().part());
    memory.frame.set(Forward.EPSILON, call.choices().epsilon());
    point(call, Forward.GAIN);
    point(call, Forward.BIAS);
    List<Tensor> tensors = call.formula().rows();
    for (int i = 0; i < tensors.size(); i++) {
      RowMemory of = call.rows(tensors.get(i));
      boolean inArray = of != null && of.access() != RowMemory.Access.NATIVE;
      memory.arrays[tensors.get(i).place()] = inArray ? of.segment() : null;
    }
  }

  private void point(Call call, Tensor column) {
    MemorySegment numbers = call.nativeColumn(column);
    memory.columns[column.place()] = numbers == null ? 0 : numbers.address();
  }

  @Override
  public void close() {
    memory.frame.clear();
    memory.sums.shrink();
    Arrays.fill(memory.arrays, null);
    rows.close();
  }

  @Override
  public long run(long from, long to, Object[] sums) {
    memory.sums.take(sums, width, memory.columns);
    long done = rows.run(from, to, sums);
    memory.sums.giveBack(sums, width);
    return done;
  }

  @Override
  public int stoppedAt(Frame into) {
    return rows.stoppedAt(into);
  }
}
