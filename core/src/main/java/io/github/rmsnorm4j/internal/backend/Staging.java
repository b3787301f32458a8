package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.codec.NarrowArrays;
import org.jspecify.annotations.Nullable;

/**
 * Arrays to which rows are copied if kernels cannot read and write them in place. Calls take them
 * from a pool and give them back. So calls allocate nothing that grows with rows or width, on
 * platform threads and on virtual threads.
 */
public final class Staging {
  /**
   * The most elements of an array that is kept. Rows need fewer; the gain of a call may be longer.
   */
  private static final int MAX_KEPT = 1 << 18;

  private static final Pool<Staging> POOL = new Pool<>(Staging::new);

  private float[] floats = {};
  private double[] doubles = {};
  private short[] shorts = {};

  /** Null until it is needed. */
  private @Nullable NarrowArrays narrow;

  /** Null until it is needed. */
  private @Nullable Staging other;

  /** Whose rows the arrays have; null if nobody's. */
  @Nullable Object holder;

  /** Takes arrays, which no other call uses until they are given back. */
  public static Staging take() {
    return POOL.take();
  }

  /** Arrays for a second operand, which are given back with these. */
  public Staging other() {
    if (other == null) {
      other = new Staging();
    }
    return other;
  }

  /** Gives the arrays back; long ones are dropped. */
  public void giveBack() {
    shrink();
    if (other != null) {
      other.shrink();
    }
    POOL.giveBack(this);
  }

  /** Drops long arrays. */
  void shrink() {
    floats = floats.length > MAX_KEPT ? new float[0] : floats;
    doubles = doubles.length > MAX_KEPT ? new double[0] : doubles;
    shorts = shorts.length > MAX_KEPT ? new short[0] : shorts;
    holder = null;
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

  /** Converts 16-bit types. */
  NarrowArrays narrow() {
    if (narrow == null) {
      narrow = new NarrowArrays();
    }
    return narrow;
  }

  /** Bit patterns of 16-bit types. */
  public short[] shorts(int length) {
    if (shorts.length < length) {
      shorts = new short[length];
    }
    return shorts;
  }
}
