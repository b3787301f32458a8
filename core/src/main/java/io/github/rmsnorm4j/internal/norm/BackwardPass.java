package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.Arrays;

/**
 * The backward pass of one thread over runs of rows: it reads dy and the kept rows, computes the
 * row sums, writes dx, and adds to the gradients of gain and bias.
 */
final class BackwardPass implements AutoCloseable {
  /** Elements of a chunk of rows: with their dy they stay in a near cache. */
  private static final int CHUNK = 1 << 13;

  private static final Staging.Pool<BackwardPass> POOL = new Staging.Pool<>(BackwardPass::new);

  private final Frame frame = new Frame();
  private final RowAccess kept = new RowAccess(Forward.X);
  private final RowAccess dy = new RowAccess(Backward.DY);
  private final RowAccess residual = new RowAccess(Forward.RESIDUAL);
  private final RowAccess dx = new RowAccess(Backward.DX);
  private final Staging keptStaging = new Staging();
  private final Staging dyStaging = new Staging();
  private final Staging residualStaging = new Staging();
  private final BlockSums gain = new BlockSums();
  private final BlockSums bias = new BlockSums();
  private final LongRow keptRow =
      new LongRow(frame, (row, column, rows, n) -> kept.read(row, column, rows, n));
  private final LongRow bothRows = new LongRow(frame, this::readBoth);

  /** Null until it is needed. */
  private MachineBackward machine;

  private BackwardCall call;
  private BackwardPlan plan;
  private int width;
  private int part;
  private boolean adds;

  /** Null if the gradient of the parameter is not wanted. */
  private BlockSums gainSums;

  private BlockSums biasSums;

  /** A pass for a call. No other call uses it until it is closed. */
  static BackwardPass open(BackwardCall call, BackwardPlan plan, LongColumns columns) {
    BackwardPass pass = POOL.take();
    try {
      pass.begin(call, plan, columns);
    } catch (RuntimeException | Error e) {
      pass.close();
      throw e;
    }
    return pass;
  }

  private void begin(BackwardCall call, BackwardPlan plan, LongColumns columns) {
    this.call = call;
    this.plan = plan;
    width = call.choices().width();
    part = call.choices().part();
    adds = call.residual() != null;
    kept.open(call.kept(), plan.storage, frame, keptStaging);
    dy.open(call.dy(), plan.storage, frame, dyStaging);
    dx.open(call.dx(), plan.storage, frame, dyStaging);
    if (adds) {
      residual.open(call.residual(), plan.storage, frame, residualStaging);
    }
    frame.set(Forward.K, part);
    frame.set(Forward.EPSILON, call.choices().epsilon());
    frame.point(Forward.GAIN, plan.columns.of(Forward.GAIN, call.gain()));
    frame.point(Forward.BIAS, plan.columns.of(Forward.BIAS, call.bias()));
    Arrays.fill(frame.of(Forward.MEAN), 0.0);
    gainSums = call.gainGradient() ? gain : null;
    biasSums = call.biasGradient() ? bias : null;
    gain.begin(width, call.float64());
    bias.begin(width, call.float64());
    if (plan.isMachineCode()) {
      machine = machine == null ? new MachineBackward(this, frame) : machine;
      machine.open(call, plan, columns);
    }
  }

  /** Drops references to the call, and returns this pass to the pool. */
  @Override
  public void close() {
    gain.close();
    bias.close();
    kept.close();
    dy.close();
    residual.close();
    dx.close();
    keptStaging.shrink();
    dyStaging.shrink();
    residualStaging.shrink();
    frame.clear();
    if (machine != null) {
      machine.end();
    }
    call = null;
    plan = null;
    gainSums = null;
    biasSums = null;
    if (!POOL.giveBack(this) && machine != null) {
      machine.close();
    }
  }

  /** Does rows {@code from} to {@code to}, which begin a sub-tree, and returns their sums. */
  BackwardRunner.Result tree(long from, long to) {
    for (long row = from; row < to; row += BackwardRunner.BLOCK) {
      Object dgain = gainSums == null ? null : gainSums.open();
      Object dbias = biasSums == null ? null : biasSums.open();
      frame.point(Backward.GAIN_GRADIENT, dgain);
      frame.point(Backward.BIAS_GRADIENT, dbias);
      long end = Math.min(to, row + BackwardRunner.BLOCK);
      if (plan.isMachineCode()) {
        machine.block(row, end, dgain, dbias);
      } else {
        block(row, end);
      }
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
      rows(row, (int) Math.min(chunk, to - row));
    }
  }

  /** Does a few rows, or one long row. */
  void rows(long row, int rows) {
    if (width > RowSum.SUPER_BLOCK) {
      longRow(row);
    } else {
      chunk(row, rows);
    }
  }

  private void readBoth(long row, long column, int rows, int columns) {
    kept.read(row, column, rows, columns);
    dy.read(row, column, rows, columns);
  }

  private void chunk(long row, int rows) {
    kept.read(row, 0, rows, width);
    if (call.rstd() == null) {
      plan.statistic.rows().run(frame, rows, 0, part);
    }
    boolean alone = statistics(row, rows);
    if (alone && rows > 1) {
      for (int r = 0; r < rows; r++) {
        chunk(row + r, 1);
      }
      return;
    }
    BackwardPlan.Rows kernels = alone ? plan.wide() : plan.usual;
    dy.read(row, 0, rows, width);
    kernels.sums().run(frame, rows, 0, width);
    kernels.means().run(frame, rows, 0, 0);
    write(kernels, row, 0, rows, width);
  }

  private void longRow(long row) {
    if (call.rstd() == null) {
      keptRow.at(row).statistic(plan.statistic, call.choices());
    }
    BackwardPlan.Rows kernels = statistics(row, 1) ? plan.wide() : plan.usual;
    bothRows.at(row).sums(kernels.sums(), width);
    kernels.means().run(frame, 1, 0, 0);
    for (long column = 0; column < width; column += RowSum.SUPER_BLOCK) {
      int columns = (int) Math.min(RowSum.SUPER_BLOCK, width - column);
      readBoth(row, column, 1, columns);
      write(kernels, row, column, 1, columns);
    }
  }

  /**
   * Computes mean and rstd of rows; returns whether a row is out of range. One float64 row is then
   * summed again with scaled elements, and so comes back into range.
   */
  boolean statistics(long row, int rows) {
    if (call.rstd() == null) {
      plan.roots.run(frame, rows, 0, 0);
    } else {
      System.arraycopy(call.rstd(), (int) row, frame.of(Forward.RSTD), 0, rows);
      if (call.mean() != null) {
        System.arraycopy(call.mean(), (int) row, frame.of(Forward.MEAN), 0, rows);
      }
      plan.range.run(frame, rows, 0, 0);
    }
    if (!frame.outOfRange || !call.float64() || rows > 1) {
      return frame.outOfRange;
    }
    if (plan.rescaled.statistic(call.choices(), keptRow.at(row), frame)) {
      frame.of(Forward.RSTD)[0] *= frame.ofCall[Forward.SCALE.place()];
    }
    return false;
  }

  private void write(BackwardPlan.Rows kernels, long row, long column, int rows, int columns) {
    dx.place(row, column, rows, columns);
    if (adds) {
      residual.read(row, column, rows, columns);
    }
    frame.moveColumns((int) column);
    int inPart = Math.clamp(part - column, 0, columns);
    if (inPart > 0) {
      kernels.output().run(frame, rows, 0, inPart);
    }
    if (inPart < columns) {
      // The statistic does not depend on these.
      Arrays.fill(frame.of(Backward.M), 0, rows, 0.0);
      kernels.output().run(frame, rows, inPart, columns);
    }
    frame.moveColumns(0);
    dx.write(row, column, rows, columns);
  }
}
