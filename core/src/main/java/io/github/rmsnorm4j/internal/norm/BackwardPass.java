package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.kernel.Rectangle;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.kernel.Workspace;
import java.util.Arrays;

/**
 * One thread's way back through runs of rows: read dy and what was kept, two sums per row, write
 * dx, add to the gradients of gain and bias.
 */
final class BackwardPass implements AutoCloseable {
  /** Elements of the rows that go through together: with their slopes they stay near. */
  private static final int CHUNK = 1 << 13;

  private final Workspace work;
  private final RowReader kept = new RowReader();
  private final RowReader dy = new RowReader();
  private final RowReader residualReader = new RowReader();
  private final RowWriter dx = new RowWriter();
  private final Rectangle keptPart = new Rectangle();
  private final Rectangle dyPart = new Rectangle();
  private final Rectangle dxPart = new Rectangle();
  private final Rectangle residualPart = new Rectangle();
  private final BlockSums gain = new BlockSums();
  private final BlockSums bias = new BlockSums();

  private BackwardCall call;
  private BackwardPlan plan;
  private int width;
  private int part;
  private boolean float64;
  private Statistic statistic;
  private Slope slope;
  private Workspace dyWork;
  private Workspace residualWork;

  /** Null without a residual. */
  private RowReader residual;

  /** Null where the parameter has no gradient, as are the sums of a block. */
  private BlockSums gainSums;

  private BlockSums biasSums;
  private Object dgain;
  private Object dbias;

  private BackwardPass(Workspace work) {
    this.work = work;
    work.backward = this;
  }

  /** A pass for a call, of nobody else's until it is closed. */
  static BackwardPass open(BackwardCall call, BackwardPlan plan) {
    Workspace work = Workspace.take();
    BackwardPass pass =
        work.backward == null ? new BackwardPass(work) : (BackwardPass) work.backward;
    pass.begin(call, plan);
    return pass;
  }

  private void begin(BackwardCall call, BackwardPlan plan) {
    this.call = call;
    this.plan = plan;
    width = call.choices().width();
    part = call.choices().part();
    float64 = call.float64();
    statistic = plan.roots;
    slope = plan.slope;
    dyWork = Workspace.take();
    kept.open(call.kept(), plan.keptCodec, work, null);
    dy.open(call.dy(), plan.dyCodec, dyWork, null);
    if (call.residual() != null) {
      residual = residualReader;
      residualWork = Workspace.take();
      residual.open(call.residual(), plan.residualCodec, residualWork, null);
    }
    dx.open(call.dx(), float64, plan.dxCodec, dyWork);
    gainSums = call.gainGradient() ? gain : null;
    biasSums = call.biasGradient() ? bias : null;
    gain.begin(width, float64);
    bias.begin(width, float64);
  }

  /** Lets go of the call and gives back its workspaces, and with the first itself. */
  @Override
  public void close() {
    gain.close();
    bias.close();
    dyWork.giveBack();
    dyWork = null;
    if (residual != null) {
      residualWork.giveBack();
      residualWork = null;
      residual.close();
      residual = null;
    }
    kept.close();
    dy.close();
    dx.close();
    keptPart.clear();
    dyPart.clear();
    dxPart.clear();
    residualPart.clear();
    call = null;
    plan = null;
    statistic = null;
    slope = null;
    gainSums = null;
    biasSums = null;
    dgain = null;
    dbias = null;
    work.giveBack();
  }

  /** Rows {@code from} to {@code to}, which begin a sub-tree: the sums of their gradients. */
  BackwardRunner.Result tree(long from, long to) {
    for (long row = from; row < to; row += BackwardRunner.BLOCK) {
      dgain = gainSums == null ? null : gainSums.open();
      dbias = biasSums == null ? null : biasSums.open();
      block(row, Math.min(to, row + BackwardRunner.BLOCK));
      if (gainSums != null) {
        gainSums.add(dgain);
      }
      if (biasSums != null) {
        biasSums.add(dbias);
      }
    }
    Object gain = gainSums == null ? null : gainSums.root();
    return new BackwardRunner.Result(gain, biasSums == null ? null : biasSums.root());
  }

  private void block(long from, long to) {
    int chunk = Math.clamp(CHUNK / width, 1, BackwardRunner.BLOCK);
    for (long row = from; row < to; row += chunk) {
      if (width > RowSum.SUPER_BLOCK) {
        longRow(row);
      } else {
        chunk(row, (int) Math.min(chunk, to - row));
      }
    }
  }

  private void chunk(long row, int rows) {
    Rectangle x = kept.read(row, 0, rows, width);
    if (call.rstd() == null) {
      plan.statistic.rows(x, null, rows, part, work);
    }
    boolean alone = statistics(row, rows);
    if (alone && rows > 1) {
      for (int r = 0; r < rows; r++) {
        chunk(row + r, 1);
      }
      return;
    }
    Rectangle slopes = dy.read(row, 0, rows, width);
    if (alone) {
      WideGradient sums = new WideGradient(call, work);
      sums.add(x, slopes, 0, width);
      sums.finish();
    } else {
      plan.sums.rows(x, slopes, rows, width, call.gain(), call.bias(), work);
    }
    means(rows);
    write(row, 0, rows, width, alone);
  }

  private void longRow(long row) {
    if (call.rstd() == null) {
      LongRow.sums(plan.statistic, kept, row, call.choices(), work);
    }
    boolean alone = statistics(row, 1);
    WideGradient sums = alone ? new WideGradient(call, work) : null;
    Arrays.fill(work.rowSquares, 0.0);
    Arrays.fill(work.rowSums, 0.0);
    for (long column = 0; column < width; column += RowSum.SUPER_BLOCK) {
      int columns = (int) Math.min(RowSum.SUPER_BLOCK, width - column);
      Rectangle x = kept.read(row, column, 1, columns);
      Rectangle slopes = dy.read(row, column, 1, columns);
      if (alone) {
        sums.add(x, slopes, (int) column, columns);
      } else {
        plan.sums.superBlock(x, slopes, (int) column, columns, call.gain(), call.bias(), work);
      }
    }
    if (alone) {
      sums.finish();
    } else {
      work.squares[0] = RowSum.tree(work.rowSquares, 0);
      work.sums[0] = RowSum.tree(work.rowSums, 0);
    }
    means(1);
    for (long column = 0; column < width; column += RowSum.SUPER_BLOCK) {
      int columns = (int) Math.min(RowSum.SUPER_BLOCK, width - column);
      kept.read(row, column, 1, columns);
      dy.read(row, column, 1, columns);
      write(row, column, 1, columns, alone);
    }
  }

  /** The mean and rstd of rows; whether one of them is out of its arithmetic's range. */
  private boolean statistics(long row, int rows) {
    if (call.rstd() == null) {
      statistic.of(work, rows, part);
    } else {
      System.arraycopy(call.rstd(), (int) row, work.rstd, 0, rows);
      if (call.mean() == null) {
        Arrays.fill(work.mean, 0, rows, 0.0);
      } else {
        System.arraycopy(call.mean(), (int) row, work.mean, 0, rows);
      }
    }
    return float64 ? rescaled(row, rows) : statistic.roundToFloat32(work, rows);
  }

  /** A float64 row that has to be summed again with its elements scaled; true for several rows. */
  private boolean rescaled(long row, int rows) {
    for (int r = 0; r < rows && call.rstd() == null; r++) {
      if (Rescaled.needed(work.sums[r], work.squares[r], call.choices())) {
        if (rows > 1) {
          return true;
        }
        if (Rescaled.statistic(call.choices(), statistic, row, kept, work)) {
          work.rstd[0] *= work.scale;
        }
      }
    }
    return false;
  }

  /** From row sums to what the output takes from every element. */
  private void means(int rows) {
    for (int r = 0; r < rows; r++) {
      work.meanProduct[r] = slope.product(work.squares[r], work.rstd[r]);
      work.meanGradient[r] = slope.gradient(work.sums[r]);
    }
  }

  private void write(long row, long column, int rows, int columns, boolean alone) {
    dx.place(row, column, rows, columns);
    if (residual != null) {
      residual.read(row, column, rows, columns);
    }
    int inPart = Math.clamp(part - column, 0, columns);
    if (inPart > 0) {
      write(0, inPart, (int) column, rows, alone);
    }
    if (inPart < columns) {
      // The statistic does not depend on these.
      Arrays.fill(work.meanProduct, 0, rows, 0.0);
      write(inPart, columns, (int) column, rows, alone);
    }
    dx.finish(row, column, rows, columns);
  }

  /** Elements {@code from} to {@code to} of the rectangles read and placed last. */
  private void write(int from, int to, int column, int rows, boolean alone) {
    Rectangle x = keptPart.after(kept.rows, float64, from);
    Rectangle slopes = dyPart.after(dy.rows, float64, from);
    Rectangle out = dxPart.after(dx.rows, float64, from);
    Rectangle added = residual == null ? null : residualPart.after(residual.rows, float64, from);
    int c = column + from;
    if (alone) {
      WideGradient gradient = new WideGradient(call, work);
      gradient.write(x, slopes, out, added, c, to - from, dgain, dbias);
    } else {
      plan.gradient.rows(
          x, slopes, out, added, rows, c, to - from, call.gain(), call.bias(), dgain, dbias, work);
    }
  }
}
