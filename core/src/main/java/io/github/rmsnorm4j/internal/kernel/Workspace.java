package io.github.rmsnorm4j.internal.kernel;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * What one thread needs while it works on rows. Taken from a pool and given back, so that calls
 * allocate nothing that grows with rows or width, on platform and on virtual threads alike.
 */
public final class Workspace {
  /** Rows that go through a kernel together, at most. */
  public static final int MAX_ROWS = 64;

  /** Elements of the rows that go through together, unless one row is longer: they stay in L1. */
  public static final int CHUNK = 4096;

  /**
   * Elements of an array that is kept: staging takes fewer, only a gain of a call may be longer.
   */
  private static final int MAX_KEPT = 1 << 18;

  private static final int SLOTS = 64;
  private static final AtomicReferenceArray<Workspace> POOL = new AtomicReferenceArray<>(SLOTS);

  /** Per row of the chunk: x0, sum of (x - x0), sum of squares; then the statistic. */
  public final double[] shift = new double[MAX_ROWS];

  public final double[] sums = new double[MAX_ROWS];
  public final double[] squares = new double[MAX_ROWS];
  public final double[] mean = new double[MAX_ROWS];
  public final double[] root = new double[MAX_ROWS];
  public final double[] rstd = new double[MAX_ROWS];

  /** Per row, for gradients: the mean of h * xh, and that of h. */
  public final double[] meanProduct = new double[MAX_ROWS];

  public final double[] meanGradient = new double[MAX_ROWS];

  /** The same and the statistic, five of each row, in float32. */
  final float[] statistics = new float[5 * MAX_ROWS];

  /** The power of two that a row out of the usual range is multiplied by; its rstd is for that. */
  public double scale = 1.0;

  /** Lanes of the open block, per row; of the super-block in work; and of a long row. */
  public final double[] laneSquares = new double[MAX_ROWS * RowSum.LANES];

  public final double[] laneSums = new double[MAX_ROWS * RowSum.LANES];
  public final double[] totalSquares = new double[MAX_ROWS * RowSum.LANES];
  public final double[] totalSums = new double[MAX_ROWS * RowSum.LANES];
  public final double[] rowSquares = new double[RowSum.LANES];
  public final double[] rowSums = new double[RowSum.LANES];

  /**
   * The pass over rows that works here, forward and backward, so that calls need not make one; the
   * passes' own to know.
   */
  public Object forward;

  public Object backward;

  /** Staged rows, in the arithmetic's type and as 16-bit patterns. */
  private float[] floats = {};

  private double[] doubles = {};
  private short[] shorts = {};

  private Workspace() {}

  /** A workspace of nobody else's. */
  public static Workspace take() {
    int start = (int) Thread.currentThread().threadId();
    for (int i = 0; i < SLOTS; i++) {
      Workspace work = POOL.getAndSet(Math.floorMod(start + i, SLOTS), null);
      if (work != null) {
        return work;
      }
    }
    return new Workspace();
  }

  /** Gives the workspace back; where the pool is full it is let go, and so are long arrays. */
  public void giveBack() {
    floats = floats.length > MAX_KEPT ? new float[0] : floats;
    doubles = doubles.length > MAX_KEPT ? new double[0] : doubles;
    shorts = shorts.length > MAX_KEPT ? new short[0] : shorts;
    int start = (int) Thread.currentThread().threadId();
    for (int i = 0; i < SLOTS; i++) {
      if (POOL.compareAndSet(Math.floorMod(start + i, SLOTS), null, this)) {
        return;
      }
    }
  }

  public float[] floats(int length) {
    if (floats.length < length) {
      floats = new float[length];
    }
    return floats;
  }

  public double[] doubles(int length) {
    if (doubles.length < length) {
      doubles = new double[length];
    }
    return doubles;
  }

  public short[] shorts(int length) {
    if (shorts.length < length) {
      shorts = new short[length];
    }
    return shorts;
  }
}
