package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.codec.NativeOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Writes the codes and scales of rows, block by block, to arrays. One thread uses it at a time. */
final class Encoder {
  private static final int MAGNITUDE = 0x7fffffff;

  /**
   * Elements from which on the JIT's vectors are faster than single elements. It makes vectors of
   * loops without conversions of patterns.
   */
  private static final int LONG = 256;

  private static final int SUMMED = 16;

  private final CodeFormat format;

  /**
   * Null where the scale is given, and for {@link CodeLayout#Q8_K}, which has a formula of its own.
   */
  private final @Nullable BlockScales scales;

  /** Null where codes are rounded products. */
  private final @Nullable ElementCodes elements;

  Encoder(CodeFormat format, CodeRule rule) {
    this.format = format;
    if (format.layout() == CodeLayout.Q8_K) {
      scales = null;
      elements = null;
      return;
    }
    CodeFormula formula = new CodeFormula(format, rule);
    scales = format.given() ? null : new BlockScales(formula);
    elements = formula.isRoundedProduct() ? null : new ElementCodes(formula);
  }

  /** Whether it writes rows that are stored so. */
  boolean isOf(CodeFormat format) {
    return this.format.equals(format);
  }

  /**
   * Encodes the first n elements, which are whole blocks.
   *
   * @param given the scale of all blocks, if it is given
   */
  void encode(float[] y, int n, int block, float given, byte[] into, float[] intoScales) {
    if (format.given()) {
      ElementCodes codes =
          Objects.requireNonNull(elements, "a given scale has no rounded products");
      codes.add(y, 0, n, codes.factor(given), into, 0);
      codes.finish();
    } else if (scales == null) {
      for (int b = 0; b < n / block; b++) {
        k(y, b * block, block, into, b * (block + format.layout().more));
      }
    } else {
      for (int b = 0; b < n / block; b += BlockScales.MOST) {
        blocks(scales, y, b, Math.min(BlockScales.MOST, n / block - b), block, into, intoScales);
      }
    }
  }

  /** Some blocks: their scales, and then their codes. */
  private void blocks(
      BlockScales scales,
      float[] y,
      int first,
      int count,
      int block,
      byte[] into,
      float[] intoScales) {
    for (int b = 0; b < count; b++) {
      scales.largest[b] = largest(y, (first + b) * block, block);
    }
    scales.find(count);
    int size = block + format.layout().more;
    for (int b = 0; b < count; b++) {
      int from = (first + b) * block;
      codes(y, from, block, scales.factor(b), into, (first + b) * size + format.layout().before());
    }
    if (elements != null) {
      elements.finish();
    }
    for (int b = 0; b < count; b++) {
      int at = (first + b) * size;
      float scale = scales.scale(b);
      switch (format.layout()) {
        case Q8_0 -> putFloat16(scale, into, at);
        case Q8_1 -> {
          float sum = scale * sum(into, at + format.layout().before(), block);
          putFloat16(scale, into, at);
          putFloat16(sum, into, at + Short.BYTES);
        }
        case APART -> intoScales[first + b] = scale;
        case Q8_K -> throw new IllegalStateException("it has a way of its own");
      }
    }
  }

  private static void putFloat16(float value, byte[] into, int at) {
    NativeOrder.put(Narrow.floatToFloat16(value), Short.BYTES, into, at);
  }

  private void codes(float[] y, int from, int n, float factor, byte[] into, int at) {
    if (factor == 0) {
      Arrays.fill(into, at, at + n, (byte) 0);
    } else if (elements == null) {
      even(y, from, n, factor, into, at);
    } else {
      elements.add(y, from, n, factor, into, at);
    }
  }

  /** The largest magnitude; the one NaN, if there is any. */
  private static float largest(float[] y, int from, int n) {
    return n < LONG ? largestOfFew(y, from, n) : largestOfMany(y, from, n);
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

  /** {@link CodeFormula#integer} of a rounded product, for vectors of the JIT. */
  private static void even(float[] y, int from, int n, float factor, byte[] into, int at) {
    if (n < LONG) {
      for (int i = 0; i < n; i++) {
        into[at + i] = (byte) Float.floatToRawIntBits(y[from + i] * factor + CodeFormula.TO_EVEN);
      }
    } else {
      evenOfMany(y, from, n, factor, into, at);
    }
  }

  private static void evenOfMany(float[] y, int from, int n, float factor, byte[] into, int at) {
    for (int i = 0; i < n; i++) {
      into[at + i] =
          (byte) (int) (y[from + i] * factor + CodeFormula.TO_EVEN - CodeFormula.TO_EVEN);
    }
  }

  private static int sum(byte[] codes, int from, int n) {
    int sum = 0;
    for (int i = from; i < from + n; i++) {
      sum += codes[i];
    }
    return sum;
  }

  /** A block of {@link CodeLayout#Q8_K}, with the sums of its codes. */
  private static void k(float[] y, int from, int n, byte[] into, int at) {
    int largest = Float.floatToIntBits(largest(y, from, n));
    int first = from;
    while ((Float.floatToIntBits(y[first]) & MAGNITUDE) != largest) {
      first++;
    }
    float element = y[first];
    float factor = -CodeFormula.MOST / element;
    float scale = element != element ? Float.NaN : 1 / factor;
    boolean finite = Math.abs(element) <= Float.MAX_VALUE;
    boolean hasCodes = finite && Math.abs(factor) <= Float.MAX_VALUE;
    float stored = finite && !hasCodes ? 0 : scale;
    NativeOrder.put(Float.floatToRawIntBits(stored), Float.BYTES, into, at);
    int codes = at + Float.BYTES;
    if (hasCodes) {
      even(y, from, n, factor, into, codes);
    } else {
      Arrays.fill(into, codes, codes + n, (byte) 0);
    }
    for (int i = 0; i < n; i += SUMMED) {
      int sum = sum(into, codes + i, SUMMED);
      NativeOrder.put(sum, Short.BYTES, into, codes + n + i / SUMMED * Short.BYTES);
    }
  }
}
