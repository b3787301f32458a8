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
import io.github.rmsnorm4j.internal.machine.Jdk;
import io.github.rmsnorm4j.internal.norm.KernelThread;
import io.github.rmsnorm4j.internal.norm.Payoff;
import io.github.rmsnorm4j.internal.norm.Runner;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
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
public abstract class FirstTier {
  /** Wider rows are not like an engine's: even one at a time they gain by a kernel. */
  private static final int WIDEST_SINGLE = 8192;

  /** Without machine code and the Vector API, kernels are faster for rows of at most this width. */
  private static final int WIDEST_LOOPS = 512;

  /** Not constants, with which the JIT would compute itself. */
  private static float smallestNormal = Float.MIN_NORMAL;

  private static float aLittleMore = Float.MIN_NORMAL * 1.5f;
  private static float one = 1;

  /** The width of a row, or of each of its groups. */
  final int width;

  private final int groups;

  /** The width of a whole row. */
  private final int rowWidth;

  /** What is added to a gain of a call; the norm's own gain has it. */
  private final double gainOffset;

  private final float[] gain;

  /** Never null in a LayerNorm. */
  final float @Nullable [] bias;

  /** What a row sum is divided by: nothing in an L2 norm. */
  final double divisor;

  private final boolean isCentred;
  private final double inside;
  private final double outside;
  private final double floor;
  private final boolean leavesZeros;
  private final NormSpec.Kind kind;

  /** Found when it is needed: calls of single rows need none. */
  private @Nullable Payoff payoff;

  private final int threads;

  /** Whether kernels were asked for. They never come if none is faster. */
  private volatile boolean asked;

  /** Whether kernels do several rows. */
  private volatile boolean ready;

  /**
   * The first tier of a norm for which it is fit.
   *
   * @param width of a row
   * @param gain of a row or of each group; null without one
   * @param bias likewise
   * @param payoff counts the elements of several rows; null for that of the kind
   */
  protected FirstTier(
      NormSpec spec,
      int width,
      float @Nullable [] gain,
      float @Nullable [] bias,
      int threads,
      @Nullable Payoff payoff) {
    kind = spec.kind();
    groups = spec.groups().count(width);
    rowWidth = width;
    this.width = width / groups;
    this.gain = gain == null ? filled(this.width, 1) : gain;
    gainOffset = spec.gainOffset();
    isCentred = spec.isCentred();
    this.bias = bias == null && isCentred ? filled(this.width, -0f) : bias;
    leavesZeros = spec.leavesZeros();
    divisor = spec.isOfLength() ? 1 : this.width;
    double epsilon = spec.epsilon(ElementType.FLOAT32);
    EpsilonPlacement placement = spec.epsilonPlacement();
    inside = placement == EpsilonPlacement.INSIDE ? epsilon : 0;
    outside = placement == EpsilonPlacement.OUTSIDE ? epsilon : 0;
    floor = placement == EpsilonPlacement.FLOOR ? epsilon : 0;
    this.payoff = payoff;
    this.threads = threads;
  }

  /** To multiply by 1 and to add -0 change no number, so no loop lacks a gain. */
  private static float[] filled(int width, float value) {
    float[] values = new float[width];
    Arrays.fill(values, value);
    return values;
  }

  /**
   * Whether a norm has a first tier.
   *
   * @param width of a row
   * @param gain elements of the gain; 0 without one
   * @param gainType the type in which the gain was given
   * @param bias elements of the bias; 0 without one
   */
  public static boolean isFit(
      NormSpec spec, int width, int gain, @Nullable ElementType gainType, int bias) {
    int group = width / spec.groups().count(width);
    return group <= SumOrder.SUPER_BLOCK
        && spec.part().elements(group) == group
        && spec.gate() == Gate.NONE
        && (gain == 0 || gain == group)
        && (bias == 0 || bias == group)
        && multipliesInFloat32(spec.castOrder(), gainType);
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

  /**
   * Whether this thread's floating-point unit is in Java's state, by what becomes of a few numbers.
   * If not, FloatingPointGuard does the call. It is here because each norm needs this class.
   */
  public static boolean isInJavasState() {
    float subnormal = aLittleMore - smallestNormal;
    float above = one + 0x1.8p-24f;
    float below = -one - 0x1.8p-24f;
    return subnormal > 0 && above == 1 + 0x1p-23f && below == -1 - 0x1p-23f;
  }

  /** Normalises whole arrays. */
  public boolean apply(float[] x, float[] y) {
    return x != null
        && y != null
        && areWhole(x, y)
        && rows(x, 0, null, 0, gain, y, 0, x.length / rowWidth);
  }

  /** Normalises rows of arrays. */
  public boolean apply(float[] x, int xOffset, float[] y, int yOffset, int rows) {
    return areFit(x, xOffset, y, yOffset, rows)
        && rows(x, xOffset, null, 0, gain, y, yOffset, rows);
  }

  /** Normalises rows of arrays with a gain of the call. */
  public boolean apply(
      float[] x, int xOffset, float[] gain, int gainOffset, float[] y, int yOffset, int rows) {
    return groups == 1
        && areFit(x, xOffset, y, yOffset, rows)
        && isIn(gain, gainOffset, 1)
        && gain != y
        && rows(x, xOffset, null, 0, atStart(gain, gainOffset), y, yOffset, rows);
  }

  /** Adds x to the residual, and normalises the sum, in whole arrays. */
  public boolean addAndApply(float[] x, float[] residual, float[] y) {
    return x != null
        && y != null
        && residual != null
        && areWhole(x, y)
        && residual.length == x.length
        && addAndApply(x, 0, residual, 0, y, 0, x.length / rowWidth);
  }

  /** Likewise, in rows of arrays. */
  public boolean addAndApply(
      float[] x,
      int xOffset,
      float[] residual,
      int residualOffset,
      float[] y,
      int yOffset,
      int rows) {
    return areFit(x, xOffset, y, yOffset, rows)
        && isIn(residual, residualOffset, rows)
        && (x != residual || areApart(xOffset, residualOffset, rows))
        && (y != residual || areApart(yOffset, residualOffset, rows))
        && rows(x, xOffset, residual, residualOffset, gain, y, yOffset, rows);
  }

  private boolean areWhole(float[] x, float[] y) {
    return x.length == y.length && x.length % rowWidth == 0;
  }

  /** Whether rows are in their arrays, and the same or apart. */
  private boolean areFit(float[] x, int xOffset, float[] y, int yOffset, int rows) {
    return isIn(x, xOffset, rows)
        && isIn(y, yOffset, rows)
        && (x != y || xOffset == yOffset || areApart(xOffset, yOffset, rows));
  }

  private boolean isIn(float[] array, int offset, int rows) {
    return array != null
        && (offset | rows) >= 0
        && (long) rows * rowWidth <= (long) array.length - offset;
  }

  private boolean areApart(int offset, int other, int rows) {
    return Math.abs((long) offset - other) >= (long) rows * rowWidth;
  }

  private boolean isSingle(long rows) {
    return rows * groups == 1 && width <= WIDEST_SINGLE;
  }

  /** Rows of arrays that have been checked. */
  private boolean rows(
      float[] x,
      int xOffset,
      float @Nullable [] residual,
      int residualOffset,
      float[] gain,
      float[] y,
      int yOffset,
      int rows) {
    if (!isInJavasState()) {
      return false;
    }
    if (isSingle(rows)) {
      row(x, xOffset, residual, residualOffset, gain, y, yOffset);
      return true;
    }
    if (!serves(rows, false, residual != null)) {
      return false;
    }
    int useful = useful(rows, residual != null);
    if (useful == 1) {
      rows(x, xOffset, residual, residualOffset, gain, y, yOffset, 0, rows);
    } else {
      RowScheduler.run(
          rows,
          useful,
          (from, to) -> rows(x, xOffset, residual, residualOffset, gain, y, yOffset, from, to));
    }
    return true;
  }

  private void rows(
      float[] x,
      int xOffset,
      float @Nullable [] residual,
      int residualOffset,
      float[] gain,
      float[] y,
      int yOffset,
      long from,
      long to) {
    int end = (int) to * rowWidth;
    for (int i = (int) from * rowWidth; i < end; i += width) {
      row(x, xOffset + i, residual, residualOffset + i, gain, y, yOffset + i);
    }
  }

  /** Whether it can do a call of rows, now or before kernels are ready. */
  public static boolean isFit(Rows x, @Nullable Rows residual, Rows y) {
    return isFloat32(x) && isFloat32(y) && (residual == null || isFloat32(residual));
  }

  /** Normalises rows of any memory for which it is fit, and which the norm has checked. */
  public boolean apply(Rows x, @Nullable Rows residual, Rows y) {
    boolean adds = residual != null;
    if (!isSingle(x.rows()) && !serves(x.rows(), x.segment().isNative(), adds)) {
      return false;
    }
    applyAll(x, residual, y);
    return true;
  }

  /** Normalises rows that it could leave to kernels. */
  public void applyAll(Rows x, @Nullable Rows residual, Rows y) {
    int useful = isSingle(x.rows()) ? 1 : useful(x.rows(), residual != null);
    if (useful == 1 || !isShared(x, residual, y)) {
      rows(x, residual, y, 0, x.rows());
    } else {
      RowScheduler.run(x.rows(), useful, (from, to) -> rows(x, residual, y, from, to));
    }
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
          row(xs, index(x, row, group), sums, h, gain, ys, index(y, row, group));
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
    float[] values = lanes.room(Lanes.ROW, width);
    normalise(lanes, loaded(x, residual, row, group, values), gain, values);
    Copies.store(values, y, element(y, row, group), width);
  }

  /** What is normalised: x in an array, or the sum in another one, which the residual takes. */
  private float[] loaded(Rows x, @Nullable Rows residual, long row, int group, float[] values) {
    Copies.load(x, element(x, row, group), values, width);
    if (residual == null) {
      return values;
    }
    float[] sum = Lanes.ofThread().room(Lanes.SUM, width);
    Copies.load(residual, element(residual, row, group), sum, width);
    add(values, sum);
    Copies.store(sum, residual, element(residual, row, group), width);
    return sum;
  }

  /** Normalises a row of any memory, and writes blocks of Q8_0. The norm has checked the call. */
  public boolean quantize(Rows x, @Nullable Rows residual, CodeMemory codes, CodeRule rule) {
    if (!isFloat32(x)
        || residual != null && !isFloat32(residual)
        || !isSingle(x.rows())
        || !Q8Blocks.serves(codes, rule)) {
      return false;
    }
    Lanes lanes = Lanes.ofThread();
    float[] values = lanes.room(Lanes.ROW, width);
    normalise(lanes, loaded(x, residual, 0, 0, values), gain, values);
    byte[] blocks = lanes.bytes(codes.rowBytes());
    Q8Blocks.encode(values, width, rule, blocks);
    codes.write(0, 1, blocks);
    return true;
  }

  /** Does a row, or a group, of arrays. */
  private void row(
      float[] x,
      int xOffset,
      float @Nullable [] residual,
      int residualOffset,
      float[] gain,
      float[] y,
      int yOffset) {
    if ((xOffset | yOffset) != 0 && residual == null && !isCentred && RmsRows.isNarrow(width)) {
      RmsRows.narrow(this, x, xOffset, gain, y, yOffset);
      return;
    }
    Lanes lanes = Lanes.ofThread();
    // Rows at an offset are copied, because loops with an offset have no vectors: see PlainLoops.
    float[] to = yOffset == 0 ? y : lanes.room(Lanes.ROW, width);
    float[] from = xOffset == 0 ? x : copied(x, xOffset, to);
    if (residual != null) {
      float[] sum =
          residualOffset == 0
              ? residual
              : copied(residual, residualOffset, lanes.room(Lanes.SUM, width));
      add(from, sum);
      if (residualOffset != 0) {
        System.arraycopy(sum, 0, residual, residualOffset, width);
      }
      from = sum;
    }
    normalise(lanes, from, gain, to);
    if (yOffset != 0) {
      System.arraycopy(to, 0, y, yOffset, width);
    }
  }

  private float[] copied(float[] array, int offset, float[] room) {
    System.arraycopy(array, offset, room, 0, width);
    return room;
  }

  /** A gain of the call with its offset, from the start of an array on. */
  private float[] atStart(float[] gain, int offset) {
    if (offset == 0 && gainOffset == 0) {
      return gain;
    }
    float[] room = copied(gain, offset, Lanes.ofThread().room(Lanes.GAIN, width));
    float rounded = (float) gainOffset;
    for (int i = 0; rounded != 0 && i < width; i++) {
      room[i] += rounded;
    }
    return room;
  }

  private void add(float[] x, float[] sum) {
    int piece = PlainLoops.piece();
    for (int i = 0; i < width; i += piece) {
      PlainLoops.add(sum, x, i, Math.min(width, i + piece));
    }
  }

  /** Normalises a row at the start of arrays, which may be the same. */
  private void normalise(Lanes lanes, float[] x, float[] gain, float[] y) {
    if (isCentred) {
      LayerRows.normalise(this, lanes, x, gain, y);
    } else {
      RmsRows.normalise(this, lanes, x, gain, y);
    }
  }

  /** The reciprocal of the root of a row. Only the epsilon at its place is not 0. */
  double rstd(double meanSquare) {
    double root = Math.max(Math.sqrt(meanSquare + inside) + outside, floor);
    return root == 0 && leavesZeros ? 0 : 1 / root;
  }

  /** Whether float32 holds what elements are multiplied by; if not, the row is of float64. */
  static boolean isNormal(float rstd) {
    return rstd >= Float.MIN_NORMAL && rstd <= Float.MAX_VALUE;
  }

  /** Whether several rows are done here. */
  private boolean serves(long rows, boolean ofNative, boolean adds) {
    if (ready) {
      return rows == 0;
    }
    if (!asked) {
      Payoff counts = payoff == null ? Payoff.forward(kind) : payoff;
      payoff = counts;
      if (!counts.isOfFirstTier(rows * rowWidth)) {
        asked = true;
        KernelThread.later(new KernelThread.Work(new Request(this, ofNative, adds)));
      }
    }
    return true;
  }

  /** Asks for kernels. A class and no lambda, which takes the JVM milliseconds in a call. */
  private record Request(FirstTier first, boolean ofNative, boolean adds) implements Runnable {
    @Override
    public void run() {
      first.ready = first.isSlowerThanKernels() && first.makeKernels(ofNative, adds);
    }
  }

  private boolean isSlowerThanKernels() {
    Backend backend = backend();
    boolean hasLoops = Jdk.obstacle(Jdk.FOR_JAVA_KERNELS) == null;
    if (backend.vectorBits() > 0 || hasLoops && width <= WIDEST_LOOPS) {
      return true;
    }
    if (backend == Backend.best()) {
      Advice.give();
    }
    return false;
  }

  /** The back end that has the kernels of the norm. */
  protected abstract Backend backend();

  /**
   * Makes kernels for several rows of float32. False if there are none.
   *
   * @param ofNative whether they are in native memory, or in arrays
   * @param adds whether there is a residual
   */
  protected abstract boolean makeKernels(boolean ofNative, boolean adds);

  private int useful(long rows, boolean residual) {
    double bytes = (residual ? 4.0 : 2.0) * Float.BYTES * rows * rowWidth;
    return threads == 1 ? 1 : Runner.useful(bytes, threads);
  }

  /** Whether other threads may read and write the rows. */
  private static boolean isShared(Rows x, @Nullable Rows residual, Rows y) {
    return RowMemory.isOfAnyThread(x.segment())
        && RowMemory.isOfAnyThread(y.segment())
        && (residual == null || RowMemory.isOfAnyThread(residual.segment()));
  }
}
