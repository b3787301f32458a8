package io.github.rmsnorm4j.internal.codec;

import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Converts arrays of 16-bit types to float32, exactly, and back, by one rounding to nearest, ties
 * to even.
 *
 * <p>The JIT compiles the loops for float16 to the machine's conversions. It makes no vectors for
 * {@link Float#intBitsToFloat}, nor for an int that becomes a short. So loops for bfloat16 read and
 * write the arrays as integers of another size.
 */
public final class NarrowArrays {
  /** Float32 patterns above it, without their sign, are NaN. */
  private static final int INFINITY = 0x7f800000;

  /** Whether the lower half of an int is the first of two shorts in memory. */
  private static final boolean LOWER_FIRST = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private NarrowArrays() {}

  /** Decodes the first n patterns. */
  public static void decode(ElementType type, short[] from, float[] into, int n) {
    if (type == ElementType.FLOAT16) {
      decodeFloat16(from, into, n);
      return;
    }
    int pairs = LOWER_FIRST ? n / 2 : 0;
    if (pairs > 0) {
      decodePairs(from, into, pairs);
    }
    for (int i = 2 * pairs; i < n; i++) {
      into[i] = Narrow.bfloat16ToFloat(from[i]);
    }
  }

  private static void decodePairs(short[] from, float[] into, int pairs) {
    MemorySegment patterns = MemorySegment.ofArray(from);
    MemorySegment values = MemorySegment.ofArray(into);
    for (int i = 0; i < pairs; i++) {
      long pair = patterns.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * i);
      long floats = (pair & 0xffff) << 16 | pair >>> 16 << 48;
      values.set(ValueLayout.JAVA_LONG_UNALIGNED, 8L * i, floats);
    }
  }

  private static void decodeFloat16(short[] from, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.float16ToFloat(from[i]);
    }
  }

  /** Encodes the first n values. For float16 every NaN must be the canonical one. */
  public static void encode(ElementType type, float[] from, short[] into, int n) {
    if (type == ElementType.FLOAT16) {
      encodeFloat16(from, into, n);
      return;
    }
    int pairs = LOWER_FIRST && !hasNan(from, 0, n) ? n / 2 : 0;
    if (pairs > 0) {
      encodePairs(from, into, pairs);
    }
    for (int i = 2 * pairs; i < n; i++) {
      into[i] = Narrow.floatToBfloat16(from[i]);
    }
  }

  /** Rounds both halves of a long, neither of which is NaN; the upper half cannot overflow. */
  private static void encodePairs(float[] from, short[] into, int pairs) {
    MemorySegment values = MemorySegment.ofArray(from);
    MemorySegment patterns = MemorySegment.ofArray(into);
    for (int i = 0; i < pairs; i++) {
      long pair = values.get(ValueLayout.JAVA_LONG_UNALIGNED, 8L * i);
      long lower = pair & 0xffffffffL;
      long upper = pair >>> 32;
      lower = lower + 0x7fff + (lower >>> 16 & 1) >>> 16;
      upper = upper + 0x7fff + (upper >>> 16 & 1) >>> 16;
      patterns.set(ValueLayout.JAVA_INT_UNALIGNED, 4L * i, (int) (lower | upper << 16));
    }
  }

  private static void encodeFloat16(float[] from, short[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.floatToFloat16(from[i]);
    }
  }

  /** Whether one of n values is NaN. */
  public static boolean hasNan(float[] values, int from, int n) {
    MemorySegment patterns = MemorySegment.ofArray(values);
    long at = 4L * from;
    int signs = 0;
    for (int i = 0; i < n; i++) {
      int pattern = patterns.get(ValueLayout.JAVA_INT_UNALIGNED, at + 4L * i);
      signs |= INFINITY - (pattern & 0x7fffffff);
    }
    return signs < 0;
  }
}
