package io.github.rmsnorm4j.internal.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;

/**
 * {@link Power} of arrays. The JIT makes no vectors for {@link Float#intBitsToFloat}, so the bits
 * go through a byte array to integers and back. One thread uses it at a time.
 */
public final class PowerArrays {
  private static final int MOST = NarrowArrays.MOST;

  private final ByteBuffer bytes =
      ByteBuffer.allocate(MOST * Double.BYTES).order(ByteOrder.nativeOrder());
  private final FloatBuffer floats = bytes.asFloatBuffer();
  private final DoubleBuffer doubles = bytes.asDoubleBuffer();
  private final IntBuffer intView = bytes.asIntBuffer();
  private final LongBuffer longView = bytes.asLongBuffer();
  private final int[] ints = new int[MOST];
  private final long[] longs = new long[MOST];

  /** Computes the powers of the first n elements, 512 at most. */
  public void of(float[] from, float[] into, int n) {
    floats.put(0, from, 0, n);
    intView.get(0, ints, 0, n);
    shift(ints, n);
    intView.put(0, ints, 0, n);
    floats.get(0, into, 0, n);
  }

  /** Computes the powers of the first n elements, 512 at most. */
  public void of(double[] from, double[] into, int n) {
    doubles.put(0, from, 0, n);
    longView.get(0, longs, 0, n);
    shift(longs, n);
    longView.put(0, longs, 0, n);
    doubles.get(0, into, 0, n);
  }

  private static void shift(int[] bits, int n) {
    for (int i = 0; i < n; i++) {
      bits[i] = (bits[i] << Power.FLOAT_BITS) + Power.FLOAT_ONE;
    }
  }

  private static void shift(long[] bits, int n) {
    for (int i = 0; i < n; i++) {
      bits[i] = (bits[i] << Power.DOUBLE_BITS) + Power.DOUBLE_ONE;
    }
  }
}
