package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.codec.Narrow;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Writes the codes and scales of rows, block by block, to arrays. One thread uses it at a time. */
final class Encoder {
  private static final int MAGNITUDE = 0x7fffffff;

  /**
   * Elements from which on the JIT's vectors are faster than single elements. It makes vectors of
   * loops without conversions of patterns.
   */
  private static final int LONG = 256;

  /** The last digit is worth 1: a sum with it is rounded to an integer, ties to even. */
  private static final float TO_EVEN = 0x1.8p23f;

  private static final int MOST = 127;
  private static final int SUMMED = 16;

  private static final VarHandle SHORTS = view(short[].class);
  private static final VarHandle FLOATS = view(float[].class);

  private final CodeFormat format;
  private final CodeRounding rounding;
  private final BlockScales scales;

  Encoder(CodeFormat format, CodeRule rule) {
    this.format = format;
    rounding = rule.rounding();
    scales = new BlockScales(format, rule);
  }

  /** Whether it writes rows that are stored so. */
  boolean isOf(CodeFormat format) {
    return this.format.equals(format);
  }

  private static VarHandle view(Class<?> type) {
    return MethodHandles.byteArrayViewVarHandle(type, ByteOrder.nativeOrder());
  }

  /**
   * Encodes the first n elements, which are whole blocks.
   *
   * @param given the scale of all blocks, if it is given
   */
  void encode(float[] y, int n, int block, float given, byte[] into, float[] intoScales) {
    if (format.given()) {
      float8(y, 0, n, 1 / given, false, into);
      return;
    }
    int size = block + format.layout().more;
    for (int b = 0; b < n / block; b++) {
      int from = b * block;
      int at = b * size;
      switch (format.layout()) {
        case Q8_0 -> {
          int8(y, from, block, into, at + Short.BYTES);
          SHORTS.set(into, at, Narrow.floatToFloat16(scales.scale));
        }
        case Q8_1 -> {
          int8(y, from, block, into, at + 2 * Short.BYTES);
          float sum = scales.scale * sum(into, at + 2 * Short.BYTES, block);
          SHORTS.set(into, at, Narrow.floatToFloat16(scales.scale));
          SHORTS.set(into, at + Short.BYTES, Narrow.floatToFloat16(sum));
        }
        case Q8_K -> k(y, from, block, into, at);
        case APART -> {
          if (format.float8() == null) {
            int8(y, from, block, into, at);
          } else {
            float8(y, from, block, into);
          }
          intoScales[b] = scales.scale;
        }
      }
    }
  }

  private void int8(float[] y, int from, int n, byte[] into, int at) {
    scales.of(largest(y, from, n));
    float factor = scales.factor;
    if (factor == 0) {
      Arrays.fill(into, at, at + n, (byte) 0);
    } else if (rounding == CodeRounding.EVEN && !scales.divides()) {
      even(y, from, n, factor, into, at);
    } else {
      for (int i = 0; i < n; i++) {
        float value = scales.divides() ? y[from + i] / factor : y[from + i] * factor;
        into[at + i] = code(value);
      }
    }
  }

  /** The pattern of the largest magnitude; of the one NaN, if there is any. */
  private static int largest(float[] y, int from, int n) {
    return Float.floatToIntBits(n < LONG ? largestOfFew(y, from, n) : largestOfMany(y, from, n));
  }

  /** The largest of four, each of every fourth element: the processor finds them side by side. */
  private static float largestOfFew(float[] y, int from, int n) {
    int a = 0;
    int b = 0;
    int c = 0;
    int d = 0;
    int i = from;
    for (int end = from + (n & -4); i < end; i += 4) {
      a = Math.max(a, magnitude(y[i]));
      b = Math.max(b, magnitude(y[i + 1]));
      c = Math.max(c, magnitude(y[i + 2]));
      d = Math.max(d, magnitude(y[i + 3]));
    }
    for (; i < from + n; i++) {
      a = Math.max(a, magnitude(y[i]));
    }
    return Float.intBitsToFloat(Math.max(Math.max(a, b), Math.max(c, d)));
  }

  private static float largestOfMany(float[] y, int from, int n) {
    float largest = 0;
    for (int i = from; i < from + n; i++) {
      largest = Math.max(largest, Math.abs(y[i]));
    }
    return largest;
  }

  private static int magnitude(float value) {
    return Float.floatToRawIntBits(value) & MAGNITUDE;
  }

  /** The products are below 127.5, so that none has to be cut off. */
  private static void even(float[] y, int from, int n, float factor, byte[] into, int at) {
    if (n < LONG) {
      for (int i = 0; i < n; i++) {
        into[at + i] = (byte) Float.floatToRawIntBits(y[from + i] * factor + TO_EVEN);
      }
    } else {
      evenOfMany(y, from, n, factor, into, at);
    }
  }

  private static void evenOfMany(float[] y, int from, int n, float factor, byte[] into, int at) {
    for (int i = 0; i < n; i++) {
      into[at + i] = (byte) (int) (y[from + i] * factor + TO_EVEN - TO_EVEN);
    }
  }

  /** The code of a number that is not NaN. */
  private byte code(float value) {
    float most = Math.clamp(value, -MOST - 1f, MOST + 1f);
    int code =
        switch (rounding) {
          case EVEN -> (int) (most + TO_EVEN - TO_EVEN);
          // In float64 the sum is exact, or too near to the half to change what is cut off.
          case AWAY -> (int) (most + Math.copySign(0.5, most));
          case HALF_ADDED -> (int) (most + 0.5f);
        };
    return (byte) Math.clamp(code, -MOST, MOST);
  }

  private static int sum(byte[] codes, int from, int n) {
    int sum = 0;
    for (int i = from; i < from + n; i++) {
      sum += codes[i];
    }
    return sum;
  }

  /** A block with the sums of its codes. */
  private void k(float[] y, int from, int n, byte[] into, int at) {
    int largest = largest(y, from, n);
    int first = from;
    while ((Float.floatToIntBits(y[first]) & MAGNITUDE) != largest) {
      first++;
    }
    scales.ofSigned(y[first]);
    FLOATS.set(into, at, scales.scale);
    int codes = at + Float.BYTES;
    if (scales.factor == 0) {
      Arrays.fill(into, codes, codes + n, (byte) 0);
    } else {
      even(y, from, n, scales.factor, into, codes);
    }
    for (int i = 0; i < n; i += SUMMED) {
      int sum = sum(into, codes + i, SUMMED);
      SHORTS.set(into, codes + n + i / SUMMED * Short.BYTES, (short) sum);
    }
  }

  private void float8(float[] y, int from, int n, byte[] into) {
    scales.of(largest(y, from, n));
    if (scales.factor == 0) {
      Arrays.fill(into, from, from + n, (byte) 0);
    } else {
      float8(y, from, n, scales.factor, true, into);
    }
  }

  private void float8(float[] y, int from, int n, float factor, boolean divides, byte[] into) {
    Float8 type = format.float8();
    for (int i = from; i < from + n; i++) {
      into[i] = type.encode(divides ? y[i] / factor : y[i] * factor);
    }
  }
}
