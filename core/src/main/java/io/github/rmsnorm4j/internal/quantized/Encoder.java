package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.codec.NativeOrder;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.PlainValues;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes the codes and scales of rows to arrays, in plain Java. One thread uses it at a time. */
final class Encoder {
  /** Elements, or blocks, at a time. */
  private static final int MOST = PlainValues.MOST;

  private static final int MAGNITUDE = 0x7fffffff;

  /**
   * Elements from which on the JIT's vectors are faster than single elements. It makes vectors of
   * loops without conversions of patterns.
   */
  private static final int LONG = 256;

  private static final int SUMMED = 16;

  private final CodeFormat format;

  /** Null for {@link CodeLayout#Q8_K}, which has a formula of its own. */
  private final @Nullable Formulas formulas;

  Encoder(CodeFormat format, CodeRule rule) {
    this.format = format;
    formulas =
        format.layout() == CodeLayout.Q8_K ? null : new Formulas(new CodeFormula(format, rule));
  }

  /** Values of blocks, and of elements of several blocks. */
  private static final class Formulas {
    final PlainValues ofBlocks;
    final PlainValues ofElements;

    /** By block: its largest magnitude, or the scale that is given. */
    final float[] largest;

    final float[] factors;
    final float[] scales;
    final float[] emptyScales;

    /** By element: what becomes codes of what. */
    final float[] numbers;

    final float[] elements;
    final float[] factorsOfElements;
    final boolean isRoundedProduct;

    Formulas(CodeFormula of) {
      Value scale = of.format().given() ? CodeFormula.GIVEN : of.scale();
      Value emptyScale = of.format().given() ? CodeFormula.GIVEN : of.emptyScale();
      Value number = of.format().float8() == null ? of.integer().rounded() : of.scaled();
      ofBlocks = new PlainValues(List.of(scale, emptyScale, of.factor()));
      largest = ofBlocks.floats(of.format().given() ? CodeFormula.GIVEN : CodeFormula.LARGEST);
      factors = ofBlocks.floats(of.factor());
      scales = ofBlocks.floats(scale);
      emptyScales = ofBlocks.floats(emptyScale);
      ofElements = new PlainValues(List.of(number));
      numbers = ofElements.floats(number);
      elements = ofElements.floats(CodeFormula.ELEMENT);
      factorsOfElements = ofElements.floats(CodeFormula.FACTOR);
      isRoundedProduct = of.isRoundedProduct();
    }

    /** Finds scales and factors. */
    void find(int blocks) {
      ofBlocks.compute(blocks);
    }

    /** Finds what becomes codes of n elements of each of some blocks. */
    void compute(float[] y, int from, int first, int blocks, int n) {
      System.arraycopy(y, from, elements, 0, blocks * n);
      for (int b = 0; b < blocks; b++) {
        Arrays.fill(factorsOfElements, b * n, b * n + n, factors[first + b]);
      }
      ofElements.compute(blocks * n);
    }

    boolean hasCodes(int block) {
      return isPositive(scales[block]) && isPositive(factors[block]);
    }

    private static boolean isPositive(float number) {
      return number > 0 && number < Float.POSITIVE_INFINITY;
    }
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
    if (formulas == null) {
      for (int b = 0; b < n / block; b++) {
        k(y, b * block, block, into, b * (block + format.layout().more));
      }
    } else if (format.given()) {
      formulas.largest[0] = given;
      formulas.find(1);
      codes(formulas, y, 0, 1, n, into);
    } else {
      for (int b = 0; b < n / block; b += MOST) {
        blocks(formulas, y, b, Math.min(MOST, n / block - b), block, into, intoScales);
      }
    }
  }

  /** Some blocks: their scales, and then their codes. */
  private void blocks(
      Formulas of, float[] y, int first, int count, int block, byte[] into, float[] intoScales) {
    for (int b = 0; b < count; b++) {
      of.largest[b] = largest(y, (first + b) * block, block);
    }
    of.find(count);
    codes(of, y, first, count, block, into);
    for (int b = 0; b < count; b++) {
      int at = (first + b) * (block + format.layout().more);
      float scale = of.hasCodes(b) ? of.scales[b] : of.emptyScales[b];
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

  /** The codes of some blocks: of as many as are a strip together, or of parts of one block. */
  private void codes(Formulas of, float[] y, int first, int count, int block, byte[] into) {
    int together = of.isRoundedProduct ? 1 : Math.max(1, MOST / block);
    int part = of.isRoundedProduct ? block : Math.min(MOST, block);
    for (int b = 0; b < count; b += together) {
      int blocks = Math.min(together, count - b);
      for (int i = 0; i < block; i += part) {
        int n = Math.min(part, block - i);
        if (!of.isRoundedProduct) {
          of.compute(y, (first + b) * block + i, b, blocks, n);
        }
        for (int k = 0; k < blocks; k++) {
          int at = (first + b + k) * (block + format.layout().more) + format.layout().before() + i;
          if (!of.hasCodes(b + k)) {
            Arrays.fill(into, at, at + n, (byte) 0);
          } else if (of.isRoundedProduct) {
            even(y, (first + b) * block, n, of.factors[b], into, at);
          } else {
            put(of.numbers, k * n, n, into, at);
          }
        }
      }
    }
  }

  private void put(float[] numbers, int from, int n, byte[] into, int at) {
    Float8 float8 = format.float8();
    int to = at - from;
    int end = from + n;
    if (float8 != null) {
      for (int i = from; i < end; i++) {
        into[to + i] = float8.encode(numbers[i]);
      }
    } else {
      for (int i = from; i < end; i++) {
        into[to + i] = (byte) (int) numbers[i];
      }
    }
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
