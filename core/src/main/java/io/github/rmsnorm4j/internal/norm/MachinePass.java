package io.github.rmsnorm4j.internal.norm;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.rmsnorm4j.internal.formula.CallNumber;
import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.RowNumber;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** One thread's way through a run of rows with a kernel of machine code. */
final class MachinePass implements AutoCloseable {
  /**
   * Elements that a kernel does in one call where rows are in arrays: about ten microseconds, for
   * which the garbage collector has to wait.
   */
  private static final int PIECE = 1 << 15;

  private static final long ALIGNMENT = 64;

  /** Numbers of a row that roots are made of. */
  private static final List<RowNumber> SUMS =
      List.of(RowNumber.SHIFT, RowNumber.SUM, RowNumber.SQUARES);

  private static final Staging.Pool<MachinePass> POOL = new Staging.Pool<>(MachinePass::new);

  private final MachineFrame frame = new MachineFrame();

  /** Gain and bias of a call, where they are not the norm's own. */
  private final MemorySegment[] columns = new MemorySegment[Column.COUNT];

  /** The key of the columns that the frame is set for, or null. */
  private Object setFor;

  private ForwardCall call;
  private ForwardPlan plan;

  /** A pass for a call, which is nobody else's until it is closed. */
  static MachinePass open(ForwardCall call, ForwardPlan plan) {
    MachinePass pass = POOL.take();
    pass.call = call;
    pass.plan = plan;
    if (pass.setFor != plan.machineColumns.key) {
      pass.set();
    }
    return pass;
  }

  /** Sets what does not change from call to call of a plan, if gain and bias do not. */
  private void set() {
    NormChoices norm = call.choices();
    frame.setWidth(norm.width(), norm.part());
    frame.set(CallNumber.K, norm.part());
    frame.set(CallNumber.EPSILON, norm.epsilon());
    set(Column.GAIN, call.gain());
    set(Column.BIAS, call.bias());
    setFor = call.kept() ? plan.machineColumns.key : null;
  }

  /** Lets go of the call, and gives itself back. */
  @Override
  public void close() {
    frame.clear();
    call = null;
    plan = null;
    POOL.giveBack(this);
  }

  private void set(Column column, Object numbers) {
    if (numbers != null) {
      float[] floats = (float[]) numbers;
      MemorySegment segment =
          call.kept() ? plan.machineColumns.of(column, floats) : copied(column, floats);
      frame.set(column, segment.address());
    }
  }

  private MemorySegment copied(Column column, float[] numbers) {
    int width = call.choices().width();
    long bytes = (long) width * Float.BYTES;
    MemorySegment copy = columns[column.ordinal()];
    if (copy == null || copy.byteSize() < bytes) {
      copy = Arena.ofAuto().allocate(bytes, ALIGNMENT);
      columns[column.ordinal()] = copy;
    }
    MemorySegment.copy(numbers, 0, copy, JAVA_FLOAT, 0, width);
    return copy;
  }

  /** Normalises rows; plain Java goes on with those that are out of range. */
  void run(long from, long to) {
    int most = MachineFrame.MAX_ROWS;
    if (hasArrays()) {
      most = Math.clamp(PIECE / call.choices().width(), 1, most);
    }
    long row = from;
    while (row < to) {
      int rows = (int) Math.min(most, to - row);
      place(row);
      int done = plan.machine.run(frame, rows);
      keep((int) row, done);
      row += done;
      if (done < rows) {
        row += finish(row, done, plan.machine.together(rows - done));
      }
    }
  }

  private boolean hasArrays() {
    RowMemory residual = call.residual();
    return !call.x().segment().isNative()
        || !call.y().segment().isNative()
        || residual != null && !residual.segment().isNative();
  }

  private void place(long row) {
    place(Operand.X, call.x(), row);
    place(Operand.Y, call.y(), row);
    if (call.residual() != null) {
      place(Operand.RESIDUAL, call.residual(), row);
    }
  }

  private void place(Operand operand, RowMemory rows, long row) {
    MemorySegment segment = rows.segment();
    MemorySegment array = segment.isNative() ? null : segment;
    long start = array == null ? segment.address() : 0;
    frame.place(operand, array, start + row * rows.stride(), rows.stride());
  }

  private void keep(int row, int rows) {
    if (call.mean() != null && call.choices().centred()) {
      frame.copy(RowNumber.MEAN, 0, rows, call.mean(), row);
    }
    double[] rstd = call.rstd();
    if (rstd != null) {
      frame.copy(RowNumber.RSTD, 0, rows, rstd, row);
      for (int r = row; r < row + rows; r++) {
        rstd[r] = (float) rstd[r];
      }
    }
  }

  /**
   * Rows of which one is out of range. Their sums are known, and the sum of row and residual may
   * have been stored.
   *
   * @param done where their numbers are
   */
  private int finish(long row, int done, int rows) {
    try (ForwardPass pass = ForwardPass.open(call, plan)) {
      pass.finish(row, rows, to -> copySums(to, done, rows));
    }
    return rows;
  }

  private void copySums(Frame to, int done, int rows) {
    for (RowNumber number : SUMS) {
      frame.copy(number, done, rows, to.of(number), 0);
    }
  }
}
