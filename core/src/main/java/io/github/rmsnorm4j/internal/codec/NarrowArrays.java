package io.github.rmsnorm4j.internal.codec;

import io.github.rmsnorm4j.ElementType;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.ShortBuffer;

/**
 * Converts arrays of 16-bit types to float32, exactly, and back, by one rounding to nearest, ties
 * to even; every NaN becomes the canonical one. One thread uses it at a time.
 *
 * <p>The JIT compiles the loops for float16 to the machine's conversions. It makes no vectors for
 * {@link Float#intBitsToFloat}, nor for an int that becomes a short. So loops for bfloat16 work on
 * copies in byte arrays, which they read and write as integers of another size.
 */
public final class NarrowArrays {
  /** The most elements that {@link #patterns} has, and that a loop converts. */
  public static final int MOST = 512;

  /** Below this the copies take longer than the conversion. */
  private static final int FEW = 128;

  /** Float32 patterns above it, without their sign, are NaN. */
  private static final int INFINITY = 0x7f800000;

  private static final int NAN = Narrow.BFLOAT16_NAN << 16;
  private static final int SIGN = 0x80000000;

  /** The same for float16. */
  private static final int FLOAT16_INFINITY = 0x7c00;

  /** Whether the lower half of an int is the first of two shorts in memory. */
  private static final boolean LOWER_FIRST = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private static final VarHandle LONGS = view(long[].class);

  /** For callers: bit patterns of a strip of elements. */
  public final short[] patterns = new short[MOST];

  private final byte[] values = new byte[MOST * Float.BYTES];
  private final FloatBuffer floats = buffer(values).asFloatBuffer();
  private final byte[] halves = new byte[MOST * Short.BYTES];
  private final ShortBuffer shorts = buffer(halves).asShortBuffer();
  private final IntBuffer ints = buffer(halves).asIntBuffer();
  private final int[] pairs = new int[MOST / 2];
  private final short[] float16s = new short[MOST];
  private final short[] overInfinity = new short[MOST];

  private static VarHandle view(Class<?> type) {
    return MethodHandles.byteArrayViewVarHandle(type, ByteOrder.nativeOrder());
  }

  private static ByteBuffer buffer(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
  }

  /** Decodes the first n patterns. */
  public void decode(ElementType type, short[] from, float[] into, int n) {
    if (type == ElementType.FLOAT16) {
      decodeFloat16(from, into, n);
      return;
    }
    int done = 0;
    for (; LOWER_FIRST && n - done >= FEW; done += even(n - done)) {
      int count = even(n - done);
      shorts.put(0, from, done, count);
      ints.get(0, pairs, 0, count / 2);
      widen(pairs, values, count / 2);
      floats.get(0, into, done, count);
    }
    for (int i = done; i < n; i++) {
      into[i] = Narrow.bfloat16ToFloat(from[i]);
    }
  }

  /** How many of so many elements, an even number, a loop converts. */
  private static int even(int left) {
    return Math.min(MOST, left) & -2;
  }

  private static void widen(int[] pairs, byte[] values, int count) {
    for (int i = 0; i < count; i++) {
      long pair = pairs[i];
      LONGS.set(values, Long.BYTES * i, (pair & 0xffff) << 16 | pair >>> 16 << 48);
    }
  }

  private static void decodeFloat16(short[] from, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.float16ToFloat(from[i]);
    }
  }

  /** Encodes the first n values. */
  public void encode(ElementType type, float[] from, short[] into, int n) {
    int done = 0;
    if (type == ElementType.FLOAT16) {
      for (; done < n; done += MOST) {
        int count = Math.min(MOST, n - done);
        encodeFloat16(from, done, float16s, count);
        oneNan(float16s, overInfinity, count);
        System.arraycopy(float16s, 0, into, done, count);
      }
      return;
    }
    for (; LOWER_FIRST && n - done >= FEW; done += even(n - done)) {
      int count = even(n - done);
      floats.put(0, from, done, count);
      narrow(values, pairs, count / 2);
      ints.put(0, pairs, 0, count / 2);
      shorts.get(0, into, done, count);
    }
    for (int i = done; i < n; i++) {
      into[i] = Narrow.floatToBfloat16(from[i]);
    }
  }

  private static void narrow(byte[] values, int[] pairs, int count) {
    for (int i = 0; i < count; i++) {
      long pair = (long) LONGS.get(values, Long.BYTES * i);
      pairs[i] = rounded((int) pair) >>> 16 | rounded((int) (pair >>> 32)) & 0xffff0000;
    }
  }

  /** A float32 pattern whose upper half is that of the bfloat16; it has no branch. */
  private static int rounded(int pattern) {
    int isNan = INFINITY - (pattern & ~SIGN) >> 31;
    int rounded = pattern + 0x7fff + (pattern >>> 16 & 1);
    return rounded ^ (rounded ^ NAN) & isNan;
  }

  private static void encodeFloat16(float[] values, int from, short[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.floatToFloat16(values[from + i]);
    }
  }

  /** Two loops, because a loop that reads a short keeps its sign only if it is in memory. */
  private static void oneNan(short[] patterns, short[] overInfinity, int n) {
    for (int i = 0; i < n; i++) {
      overInfinity[i] = (short) (FLOAT16_INFINITY - (patterns[i] & 0x7fff));
    }
    for (int i = 0; i < n; i++) {
      int pattern = patterns[i];
      int isNan = overInfinity[i] >> 15;
      patterns[i] = (short) (pattern ^ (pattern ^ Narrow.FLOAT16_NAN) & isNan);
    }
  }
}
