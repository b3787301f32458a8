package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.List;

/**
 * The row sums of rows that have several owners, before they are added up: the lanes of each block.
 * Each owner sums its blocks, and an exchange brings it those of the others. All owners then add
 * them in the order of a whole row.
 *
 * <p>Blocks are one after the other. In a block are the rows, one after the other, and of a row the
 * lanes of each sum. So an owner's numbers are one after the other, and follow those of the owner
 * of the elements before.
 */
public final class BlockLanes {
  private static final Pool<Frame> FRAMES = new Pool<>(Frame::new);

  private final Shard shard;

  /** 1 where each row is exchanged by itself. */
  private final int rows;

  private final boolean ofAllRows;

  /** By place: take numbers that are kept before the sums; null for others. */
  private final double[][] kept;

  private int sums;
  private double[] numbers = {};

  private BlockLanes(Shard shard, int rows, boolean ofAllRows, int sums, double[][] kept) {
    this.shard = shard;
    this.rows = rows;
    this.ofAllRows = ofAllRows;
    this.kept = kept;
    begin(sums);
  }

  /** Of all rows of a call, which are exchanged after it. */
  public static BlockLanes ofAllRows(Shard shard, int rows, int sums, double[][] kept) {
    return new BlockLanes(shard, rows, true, sums, kept);
  }

  /** Of one row at a time, which is exchanged at once: rows that are summed again are rare. */
  public static BlockLanes ofEachRow(Shard shard) {
    return new BlockLanes(shard, 1, false, 0, new double[Tensor.Access.ROW.places()][]);
  }

  /** The numbers of so many rows with so many sums; a long, because there may be too many. */
  public static long length(int rowWidth, long rows, int sums) {
    return blocks(rowWidth) * rows * sums * SumOrder.LANES;
  }

  private static long blocks(int elements) {
    return Math.ceilDiv(elements, SumOrder.BLOCK);
  }

  /** Whether a call sums all rows, and computes no output. */
  public boolean isOfAllRows() {
    return ofAllRows;
  }

  /** Begins with sums of a row that is exchanged by itself. */
  void begin(int sums) {
    if (this.sums != sums) {
      this.sums = sums;
      numbers = new double[(int) length(shard.rowWidth(), rows, sums)];
    }
  }

  private int at(long block, long row) {
    return (int) ((block * rows + row) * sums * SumOrder.LANES);
  }

  /** Takes the lanes of a block that a kernel has just summed, from a column of the shard on. */
  void put(Frame frame, long row, long column) {
    int at = at(blocks(shard.from()) + column / SumOrder.BLOCK, ofAllRows ? row : 0);
    for (int s = 0; s < sums; s++) {
      System.arraycopy(frame.lanes[s], 0, numbers, at + s * SumOrder.LANES, SumOrder.LANES);
    }
  }

  /** Keeps numbers of a row after its steps. */
  void keep(Frame frame, long row) {
    for (int place = 0; place < kept.length; place++) {
      if (kept[place] != null) {
        kept[place][(int) row] = frame.ofRow[place][0];
      }
    }
  }

  /** Brings the lanes of the other owners. */
  public void exchange() {
    int from = at(blocks(shard.from()), 0);
    shard.exchange().gather(numbers, from, at(blocks(shard.to()), 0));
  }

  /** Adds the lanes of a row, as those of a long row of the frame. */
  void add(Frame frame, int row) {
    RowSum.open(frame);
    RowSum.addBlocks(frame, sums, numbers, at(0, row), at(1, 0));
  }

  /**
   * Adds the lanes of all rows.
   *
   * @param into by place: takes the sums of each row
   */
  public void add(List<Stage.Sum> sums, double[][] into) {
    Frame frame = FRAMES.take();
    for (int row = 0; row < rows; row++) {
      add(frame, row);
      RowSum.close(frame, sums, false);
      for (Stage.Sum sum : sums) {
        into[sum.number().place()][row] = frame.of(sum.number())[0];
      }
    }
    FRAMES.giveBack(frame);
  }
}
