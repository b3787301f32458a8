package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.backend.StagedProgram.Operand;
import io.github.rmsnorm4j.internal.backend.StagedProgram.Ready;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Program.Extent;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one thread, step by step.
 *
 * <p>Rows are done in chunks that stay in a near cache, so that their second read does not go to
 * memory. A row longer than a super-block is done in pieces of one super-block.
 */
@NullUnmarked // An object of a pool: between calls it refers to none.
public final class StagedRows implements Worker {
  /** Elements of a chunk of rows, unless one row is longer: they stay in the first-level cache. */
  private static final int CHUNK = 1 << 12;

  /** Elements of a chunk with a gradient for each element: both stay in a near cache. */
  private static final int CHUNK_OF_TWO = 1 << 13;

  private final Frame frame = new Frame();
  private final RowAccess[] access = new RowAccess[Tensor.Access.ELEMENT.places()];
  private final Staging[] staging = new Staging[Tensor.Access.ELEMENT.places()];
  private Pool<StagedRows> pool;
  private Call call;
  private StagedProgram program;

  private int width;
  private int part;
  private int chunk;

  /** Whether kernels access whole rows in place. */
  private boolean areWhole;

  /** Rows that begin where the worker stopped. */
  private int stopped;

  /** No rows yet. */
  public StagedRows() {
    for (int place = 0; place < access.length; place++) {
      access[place] = new RowAccess();
      staging[place] = new Staging();
    }
  }

  /** The worker of this thread for a call, from a pool that gets it back. */
  public static StagedRows open(Pool<StagedRows> pool, Call call, StagedProgram program) {
    StagedRows rows = pool.take();
    rows.pool = pool;
    try {
      rows.begin(call, program);
    } catch (RuntimeException | Error e) {
      rows.close();
      throw e;
    }
    return rows;
  }

  private void begin(Call call, StagedProgram program) {
    this.call = call;
    this.program = program;
    width = call.choices().width();
    part = call.choices().part();
    int elements = call.rows(Backward.DY) == null ? CHUNK : CHUNK_OF_TWO;
    chunk = program.doesAllRows() ? Math.clamp(elements / width, 1, Frame.MAX_ROWS) : 1;
    areWhole = program.isInPlace && width <= SumOrder.SUPER_BLOCK;
    for (Operand operand : program.operands) {
      Staging copies = operand.inPlace() ? null : staging[operand.copies()];
      access[operand.tensor().place()].open(operand, call.rowsOf(operand.tensor()), frame, copies);
    }
    frame.set(Forward.K, part);
    frame.set(Forward.EPSILON, call.choices().epsilon());
    frame.point(Forward.GAIN, program.columns.of(call, Forward.GAIN));
    frame.point(Forward.BIAS, program.columns.of(call, Forward.BIAS));
  }

  /** What the kernels work on. */
  public Frame frame() {
    return frame;
  }

  /** Rows of a chunk. */
  public int chunk() {
    return chunk;
  }

  @Override
  public void close() {
    for (int k = 0; program != null && k < program.operands.length; k++) {
      access[program.operands[k].tensor().place()].close();
      staging[program.operands[k].copies()].shrink();
    }
    frame.clear();
    call = null;
    program = null;
    if (!pool.giveBack(this)) {
      frame.close();
    }
  }

  @Override
  public long run(long from, long to, @Nullable Object @Nullable [] sums) {
    pointAt(sums);
    int rows;
    for (long row = from; row < to; row += rows) {
      rows = (int) Math.min(chunk, to - row);
      placeWhole(row, rows);
      KeptNumbers.takeGiven(call, frame, row, rows);
      if (!steps(program.steps, 0, row, rows)) {
        stopped = rows;
        return row - from;
      }
      if (program.ranged == program.steps.length) {
        KeptNumbers.keep(call, frame, row, rows);
      }
    }
    return to - from;
  }

  /** Continues with rows after the steps before the one with ranges; their numbers are known. */
  public void resume(long row, int rows, @Nullable Object @Nullable [] sums) {
    pointAt(sums);
    placeWhole(row, rows);
    steps(program.steps, program.ranged, row, rows);
  }

  @Override
  public int stoppedAt(Frame into) {
    for (int place = 0; place < into.ofRow.length; place++) {
      System.arraycopy(frame.ofRow[place], 0, into.ofRow[place], 0, stopped);
    }
    return stopped;
  }

  private void pointAt(@Nullable Object @Nullable [] sums) {
    if (sums != null) {
      frame.point(Backward.GAIN_GRADIENT, sums[Backward.GAIN_GRADIENT.place()]);
      frame.point(Backward.BIAS_GRADIENT, sums[Backward.BIAS_GRADIENT.place()]);
    }
  }

  /** Does steps from one on; false if it stopped before rows that are out of range. */
  private boolean steps(Ready[] steps, int from, long row, int rows) {
    for (int s = from; s < steps.length; s++) {
      Ready step = steps[s];
      if (step.extent() != Extent.NUMBERS) {
        elements(step.kernel(), step, row, rows);
      } else if (steps != program.steps || s != program.ranged) {
        step.kernel().run(frame, rows, 0, 0);
      } else if (!ranged(row, rows)) {
        if (program.doesAllRows()) {
          outOfRange(row, rows);
        }
        return program.doesAllRows();
      }
    }
    return true;
  }

  /** Does the step with ranges, and keeps numbers of rows; false if a row is out of range. */
  public boolean ranged(long row, int rows) {
    program.steps[program.ranged].kernel().run(frame, rows, 0, 0);
    if (!frame.outOfRange) {
      KeptNumbers.keep(call, frame, row, rows);
    }
    return !frame.outOfRange;
  }

  /** Does the rest of rows of which at least one is out of range, each by itself. */
  public void outOfRange(long row, int rows) {
    if (rows == 1) {
      outOfRange(row);
      return;
    }
    for (int r = 0; r < rows; r++) {
      frame.moveToFirst(r);
      placeWhole(row + r, 1);
      steps(program.steps, program.ranged, row + r, 1);
    }
  }

  private void outOfRange(long row) {
    if (!call.float64()) {
      KeptNumbers.keepOutOfRange(call, frame, row, 1.0);
      steps(program.wide(), 0, row, 1);
      return;
    }
    Rescaled rescaled = program.rescaled();
    double scale = rescaled.statistic(this, row, call.choices());
    Kernel output = rescaled.output(scale);
    KeptNumbers.keepOutOfRange(call, frame, row, scale);
    if (scale != 1.0 && output != null) {
      elements(output, program.steps[program.steps.length - 1], row, 1);
      return;
    }
    frame.of(Forward.RSTD)[0] *= scale;
    steps(program.steps, program.ranged + 1, row, 1);
  }

  /**
   * Runs a kernel on the elements of a step.
   *
   * @param rows one where rows are longer than a super-block
   */
  private void elements(Kernel kernel, Ready step, long row, int rows) {
    int from = step.extent().from(part);
    int to = step.extent().to(width, part);
    if (areWhole) {
      kernel.run(frame, rows, from, to);
      return;
    }
    if (step.sums() && width > SumOrder.SUPER_BLOCK) {
      sum(kernel, step, row, to);
      return;
    }
    for (long column = from; column < to; column += SumOrder.SUPER_BLOCK) {
      int n = (int) Math.min(SumOrder.SUPER_BLOCK, to - column);
      place(step, row, column, rows, n);
      kernel.run(frame, rows, 0, n);
      write(step, row, column, rows, n);
    }
    if (from > 0 || to > SumOrder.SUPER_BLOCK) {
      frame.moveColumns(0);
    }
  }

  /** Sums the first n elements of a row, piece by piece. */
  void sum(Kernel kernel, Ready step, long row, int n) {
    RowSum.open(frame);
    for (long column = 0; column < n; column += SumOrder.SUPER_BLOCK) {
      int length = (int) Math.min(SumOrder.SUPER_BLOCK, n - column);
      place(step, row, column, 1, length);
      kernel.superBlock(frame, length);
    }
    kernel.close(frame);
    frame.moveColumns(0);
  }

  /** Runs a kernel on a row's first element. */
  void first(Kernel kernel, Ready step, long row) {
    place(step, row, 0, 1, 1);
    kernel.run(frame, 1, 0, 1);
  }

  /** Points the frame at the rows and columns of a step. */
  private void place(Ready step, long row, long column, int rows, int columns) {
    for (int place : step.reads()) {
      access[place].read(row, column, rows, columns);
    }
    for (int place : step.writes()) {
      access[place].place(row, column, rows, columns);
    }
    if (column > 0) {
      frame.moveColumns((int) column);
    }
  }

  private void write(Ready step, long row, long column, int rows, int columns) {
    for (int place : step.writes()) {
      access[place].write(row, column, rows, columns);
    }
  }

  /** Does the elements of a step of the program. */
  public void elements(int step, long row, int rows) {
    elements(program.steps[step].kernel(), program.steps[step], row, rows);
  }

  /** Points the frame at rows, if it stays there for all steps. */
  private void placeWhole(long row, int rows) {
    if (areWhole) {
      place(frame, row, rows);
    }
  }

  /** Points a frame at whole rows that are accessed in place. */
  public void place(Frame frame, long row, int rows) {
    for (Operand operand : program.operands) {
      access[operand.tensor().place()].place(frame, row, 0, rows, width);
    }
  }
}
