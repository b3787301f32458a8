package io.github.rmsnorm4j.internal.first;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.norm.Payoff;
import io.github.rmsnorm4j.internal.norm.Runner;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The calls of an engine: RMSNorm, L2 norm or LayerNorm of float32 rows, in plain Java. They are
 * fast from the second token on, with cold caches: the way to the loops is short, loads few
 * classes, makes none, and allocates nothing. Single rows stay here for good, several rows until a
 * kernel pays.
 *
 * <p>Results have the order of docs/numerics.md. What is rare is left to the back ends: a call that
 * is not served, or has wrong arguments, gives false and has written nothing.
 */
public final class FirstTier {
  /** Wider rows are not like an engine's: even one at a time they gain by a kernel. */
  private static final int WIDEST_SINGLE = 8192;

  /** Without machine code and the Vector API, kernels are faster for rows of at most this width. */
  private static final int WIDEST_LOOPS = 512;

  /** The width of a row, or of each of its groups. */
  final int width;

  private final int groups;
  final float[] gain;

  /** Never null in a LayerNorm. */
  final float @Nullable [] bias;

  /** What a row sum is divided by: nothing in an L2 norm. */
  final double divisor;

  private final boolean isCentred;
  private final double inside;
  private final double outside;
  private final double floor;
  private final Payoff payoff;
  private final int threads;
  private final @Nullable Backend backend;

  /** Whether rows stay here, as no kernel is faster; null before it is known. */
  private @Nullable Boolean stays;

  private FirstTier(
      NormSpec spec,
      int width,
      float @Nullable [] gain,
      float @Nullable [] bias,
      int threads,
      @Nullable Backend backend,
      Payoff payoff) {
    groups = spec.groups().count(width);
    this.width = width / groups;
    this.gain = gain == null ? filled(this.width, 1) : gain;
    isCentred = spec.isCentred();
    this.bias = bias == null && isCentred ? filled(this.width, -0f) : bias;
    divisor = spec.isOfLength() ? 1 : this.width;
    double epsilon = spec.epsilon(ElementType.FLOAT32);
    EpsilonPlacement placement = spec.epsilonPlacement();
    inside = placement == EpsilonPlacement.INSIDE ? epsilon : 0;
    outside = placement == EpsilonPlacement.OUTSIDE ? epsilon : 0;
    floor = placement == EpsilonPlacement.FLOOR ? epsilon : 0;
    this.payoff = payoff;
    this.threads = threads;
    this.backend = backend;
  }

  /** To multiply by 1 and to add -0 change no number, so no loop lacks a gain. */
  private static float[] filled(int width, float value) {
    float[] values = new float[width];
    Arrays.fill(values, value);
    return values;
  }

  /**
   * The first tier of a norm; null if it has none.
   *
   * @param width of a row
   * @param gain of a row or of each group; null without one
   * @param gainType the type in which the gain was given
   * @param bias likewise
   * @param backend null for the best
   * @param payoff counts the elements of several rows
   */
  public static @Nullable FirstTier of(
      NormSpec spec,
      int width,
      float @Nullable [] gain,
      @Nullable ElementType gainType,
      float @Nullable [] bias,
      int threads,
      @Nullable Backend backend,
      Payoff payoff) {
    int group = width / spec.groups().count(width);
    boolean fits =
        group <= SumOrder.SUPER_BLOCK
            && spec.part().elements(group) == group
            && spec.gate() == Gate.NONE
            && (gain == null || gain.length == group)
            && (bias == null || bias.length == group);
    if (!fits || !multipliesInFloat32(spec.castOrder(), gainType)) {
      return null;
    }
    return new FirstTier(spec, width, gain, bias, threads, backend, payoff);
  }

  /** Whether float32 rows have the result of the default cast order. */
  private static boolean multipliesInFloat32(CastOrder order, @Nullable ElementType gainType) {
    if (order == CastOrder.T5) {
      return gainType == null || gainType.bytes() > Short.BYTES;
    }
    return order == CastOrder.FLOAT32
        || order == CastOrder.LLAMA
        || order == CastOrder.ROUNDED_ROOT
        || order == CastOrder.NONE;
  }

  /** Normalises rows of arrays. */
  public boolean apply(float[] x, int xOffset, float[] y, int yOffset, int rows) {
    if (!isIn(x, xOffset, rows)
        || !isIn(y, yOffset, rows)
        || x == y && xOffset != yOffset && Math.abs((long) xOffset - yOffset) < length(rows)) {
      return false;
    }
    if (isSingle(rows)) {
      row(x, xOffset, null, 0, y, yOffset);
      return true;
    }
    return several(x, xOffset, null, y, yOffset, rows);
  }

  /** Normalises whole arrays. */
  public boolean apply(float[] x, float[] y) {
    if (x == null || y == null || x.length != y.length || x.length % (groups * width) != 0) {
      return false;
    }
    int rows = x.length / (groups * width);
    if (isSingle(rows)) {
      row(x, 0, null, 0, y, 0);
      return true;
    }
    return several(x, 0, null, y, 0, rows);
  }

  /** Adds x to the residual, and normalises the sum, in whole arrays. */
  public boolean addAndApply(float[] x, float[] residual, float[] y) {
    if (x == null
        || residual == null
        || y == null
        || x.length != residual.length
        || x.length != y.length
        || x == residual
        || y == residual
        || x.length % (groups * width) != 0) {
      return false;
    }
    int rows = x.length / (groups * width);
    if (isSingle(rows)) {
      row(x, 0, residual, 0, y, 0);
      return true;
    }
    return several(x, 0, residual, y, 0, rows);
  }

  private boolean isSingle(long rows) {
    return rows * groups == 1 && width <= WIDEST_SINGLE;
  }

  private boolean isIn(float[] array, int offset, int rows) {
    return array != null && (offset | rows) >= 0 && length(rows) <= (long) array.length - offset;
  }

  private long length(int rows) {
    return (long) rows * groups * width;
  }

  /** Several rows of arrays, the residual at the place of x. */
  private boolean several(
      float[] x, int xOffset, float @Nullable [] residual, float[] y, int yOffset, int rows) {
    if (!serves(rows)) {
      return false;
    }
    int useful = useful(rows, residual != null);
    if (useful == 1) {
      rows(x, xOffset, residual, y, yOffset, 0, rows);
    } else {
      RowScheduler.run(
          rows, useful, (from, to) -> rows(x, xOffset, residual, y, yOffset, from, to));
    }
    return true;
  }

  private void rows(
      float[] x,
      int xOffset,
      float @Nullable [] residual,
      float[] y,
      int yOffset,
      long from,
      long to) {
    int end = (int) to * groups * width;
    for (int i = (int) from * groups * width; i < end; i += width) {
      row(x, xOffset + i, residual, i, y, yOffset + i);
    }
  }

  /** Normalises rows of any memory, which the norm has checked. */
  public boolean apply(Rows x, @Nullable Rows residual, Rows y) {
    if (!isFloat32(x) || !isFloat32(y) || residual != null && !isFloat32(residual)) {
      return false;
    }
    boolean one = isSingle(x.rows());
    if (!one && !serves(x.rows())) {
      return false;
    }
    int useful = one ? 1 : useful(x.rows(), residual != null);
    if (useful == 1 || !isShared(x, residual, y)) {
      rows(x, residual, y, 0, x.rows());
    } else {
      RowScheduler.run(x.rows(), useful, (from, to) -> rows(x, residual, y, from, to));
    }
    return true;
  }

  private static boolean isFloat32(Rows rows) {
    return rows.type() == ElementType.FLOAT32;
  }

  private void rows(Rows x, @Nullable Rows residual, Rows y, long from, long to) {
    float[] xs = array(x);
    float[] ys = array(y);
    float[] sums = residual == null ? null : array(residual);
    for (long row = from; row < to; row++) {
      for (int group = 0; group < groups; group++) {
        if (xs != null && ys != null && (sums != null || residual == null)) {
          int h = residual == null ? 0 : index(residual, row, group);
          row(xs, index(x, row, group), sums, h, ys, index(y, row, group));
        } else {
          copiedRow(x, residual, y, row, group);
        }
      }
    }
  }

  /** The array that rows are in; null if there is none, or they are not at whole elements. */
  private static float @Nullable [] array(Rows rows) {
    MemorySegment segment = rows.segment();
    boolean whole = segment.address() % Float.BYTES == 0;
    return whole && segment.heapBase().orElse(null) instanceof float[] array ? array : null;
  }

  private int index(Rows rows, long row, int group) {
    return (int) (rows.segment().address() / Float.BYTES + element(rows, row, group));
  }

  private long element(Rows rows, long row, int group) {
    return row * rows.rowStride() + (long) group * width;
  }

  private void copiedRow(Rows x, @Nullable Rows residual, Rows y, long row, int group) {
    Lanes lanes = Lanes.ofThread();
    float[] values = lanes.row(width);
    Copies.load(x, element(x, row, group), values, width);
    float[] from = values;
    if (residual != null) {
      from = lanes.sum(width);
      Copies.load(residual, element(residual, row, group), from, width);
      add(values, from);
      Copies.store(from, residual, element(residual, row, group), width);
    }
    normalise(from, values);
    Copies.store(values, y, element(y, row, group), width);
  }

  /** Does a row of arrays. */
  private void row(
      float[] x, int xOffset, float @Nullable [] residual, int sumOffset, float[] y, int yOffset) {
    if ((xOffset | yOffset) != 0 && residual == null && !isCentred && RmsRows.isNarrow(width)) {
      RmsRows.narrow(this, x, xOffset, y, yOffset);
      return;
    }
    // Rows at an offset are copied, because loops with an offset have no vectors: see PlainLoops.
    float[] to = yOffset == 0 ? y : Lanes.ofThread().row(width);
    float[] from = atStart(x, xOffset, to);
    if (residual != null) {
      float[] sum =
          sumOffset == 0 ? residual : atStart(residual, sumOffset, Lanes.ofThread().sum(width));
      add(from, sum);
      if (sumOffset != 0) {
        System.arraycopy(sum, 0, residual, sumOffset, width);
      }
      from = sum;
    }
    normalise(from, to);
    if (yOffset != 0) {
      System.arraycopy(to, 0, y, yOffset, width);
    }
  }

  /** The row at the start of an array: in place, or copied. */
  private float[] atStart(float[] array, int offset, float[] room) {
    if (offset == 0) {
      return array;
    }
    System.arraycopy(array, offset, room, 0, width);
    return room;
  }

  private void add(float[] x, float[] sum) {
    int piece = PlainLoops.piece();
    for (int i = 0; i < width; i += piece) {
      PlainLoops.add(sum, x, i, Math.min(width, i + piece));
    }
  }

  /** Normalises a row at the start of arrays, which may be the same. */
  private void normalise(float[] x, float[] y) {
    if (isCentred) {
      LayerRows.normalise(this, x, y);
    } else {
      RmsRows.normalise(this, x, y);
    }
  }

  /** The root of a row. Only the epsilon at its place is not 0. */
  double root(double meanSquare) {
    return Math.max(Math.sqrt(meanSquare + inside) + outside, floor);
  }

  /** Whether float32 holds what elements are multiplied by; if not, the row is of float64. */
  static boolean isNormal(float rstd) {
    return rstd >= Float.MIN_NORMAL && rstd <= Float.MAX_VALUE;
  }

  /** Whether several rows are still done here. */
  private boolean serves(long rows) {
    if (stays == null && payoff.isOfFirstTier(rows * groups * width)) {
      return true;
    }
    return stays == null ? isFastest() : stays;
  }

  private boolean isFastest() {
    Backend of = backend == null ? Backend.best() : backend;
    boolean fastest = of.vectorBits() == 0 && width > WIDEST_LOOPS;
    stays = fastest;
    if (!fastest) {
      payoff.end();
    } else if (of == Backend.best()) {
      Advice.give();
    }
    return fastest;
  }

  private int useful(long rows, boolean residual) {
    double bytes = (residual ? 4.0 : 2.0) * Float.BYTES * rows * groups * width;
    return threads == 1 ? 1 : Runner.useful(bytes, threads);
  }

  /** Whether other threads may read and write the rows. */
  private static boolean isShared(Rows x, @Nullable Rows residual, Rows y) {
    return RowMemory.isOfAnyThread(x.segment())
        && RowMemory.isOfAnyThread(y.segment())
        && (residual == null || RowMemory.isOfAnyThread(residual.segment()));
  }
}
