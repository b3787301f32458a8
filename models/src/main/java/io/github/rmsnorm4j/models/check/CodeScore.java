package io.github.rmsnorm4j.models.check;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import java.lang.foreign.MemorySegment;

/**
 * How many bytes of quantised rows are those of others. What a block of ggml holds besides its
 * codes is its scale here, with the sums of codes.
 *
 * @param equalCodes codes that are equal
 * @param codes all codes
 * @param equalScales scales that are equal
 * @param scales all scales
 * @param largestStep the largest difference of two codes, in codes
 */
record CodeScore(long equalCodes, long codes, long equalScales, long scales, int largestStep) {
  /** Compares rows without gaps, of the same type and shape. */
  static CodeScore of(QuantizedRows made, QuantizedRows y) {
    QuantizedType type = y.type();
    boolean apart = y.scales() != null;
    int block = apart ? y.width() : type.block(y.width());
    long bytes = type.rowBytes(block);
    int first = firstCode(type);
    boolean int8 = !type.toString().startsWith("f8");
    long codes = y.rows() * y.width();
    long equalCodes = 0;
    long equalScales = apart ? equal(made.scales(), y.scales(), Float.BYTES) : 0;
    int largestStep = 0;
    for (long at = 0; at < y.codes().byteSize(); at += bytes) {
      for (long code = at + first; code < at + first + block; code++) {
        int step = step(made.codes().get(JAVA_BYTE, code), y.codes().get(JAVA_BYTE, code), int8);
        largestStep = Math.max(largestStep, step);
        equalCodes += made.codes().get(JAVA_BYTE, code) == y.codes().get(JAVA_BYTE, code) ? 1 : 0;
      }
      equalScales +=
          !apart
                  && same(made.codes(), y.codes(), at, at + first)
                  && same(made.codes(), y.codes(), at + first + block, at + bytes)
              ? 1
              : 0;
    }
    long scales = apart ? y.scales().byteSize() / Float.BYTES : codes / block;
    return new CodeScore(equalCodes, codes, equalScales, scales, largestStep);
  }

  /** The byte of a block that its codes begin at. */
  private static int firstCode(QuantizedType type) {
    if (type == QuantizedType.Q8_0) {
      return Short.BYTES;
    }
    return type == QuantizedType.Q8_1 || type == QuantizedType.Q8_K ? Float.BYTES : 0;
  }

  private static long equal(MemorySegment a, MemorySegment b, int bytes) {
    long equal = 0;
    for (long at = 0; at < b.byteSize(); at += bytes) {
      equal += same(a, b, at, at + bytes) ? 1 : 0;
    }
    return equal;
  }

  private static boolean same(MemorySegment a, MemorySegment b, long from, long to) {
    return MemorySegment.mismatch(a, from, to, b, from, to) < 0;
  }

  /** Codes of FP8 are a sign and a magnitude. */
  private static int step(byte a, byte b, boolean int8) {
    return Math.abs(int8 ? a - b : ordinal(a) - ordinal(b));
  }

  private static int ordinal(byte code) {
    int size = code & Byte.MAX_VALUE;
    return code < 0 ? -size : size;
  }

  CodeScore plus(CodeScore other) {
    return new CodeScore(
        equalCodes + other.equalCodes,
        codes + other.codes,
        equalScales + other.equalScales,
        scales + other.scales,
        Math.max(largestStep, other.largestStep));
  }

  boolean exact() {
    return equalCodes == codes && equalScales == scales;
  }

  /** From 0 to 2. Epsilon changes scales only, and a rounding changes codes only. */
  double shares() {
    return (double) equalCodes / codes + (double) equalScales / scales;
  }
}
