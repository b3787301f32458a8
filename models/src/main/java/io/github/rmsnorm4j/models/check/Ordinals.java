package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The places of numbers among all numbers of their type: neighbours differ by 1, zeros have 0. */
final class Ordinals {
  /** That of NaN, farther from each number than numbers are from each other. */
  private static final long NAN = Long.MAX_VALUE;

  private Ordinals() {}

  /** Those of rows without gaps. */
  static long[] of(Rows rows) {
    MemorySegment memory = rows.segment();
    long[] ordinals = new long[Math.toIntExact(rows.rows() * rows.width())];
    int bits = 8 * rows.type().bytes();
    long infinity = infinity(rows.type());
    for (int i = 0; i < ordinals.length; i++) {
      long pattern =
          switch (bits) {
            case 16 -> memory.getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i);
            case 32 -> memory.getAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i);
            default -> memory.getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i);
          };
      long size = pattern & -1L >>> 65 - bits;
      ordinals[i] = size > infinity ? NAN : pattern < 0 ? -size : size;
    }
    return ordinals;
  }

  private static long infinity(ElementType type) {
    return switch (type) {
      case FLOAT64 -> 0x7ffL << 52;
      case FLOAT32 -> 0xffL << 23;
      case FLOAT16 -> 0x1fL << 10;
      case BFLOAT16 -> 0xffL << 7;
    };
  }

  /** The number that is some steps above a positive one, of float64 or of float32. */
  static double step(double value, long steps, boolean float64) {
    return float64
        ? Double.longBitsToDouble(Double.doubleToLongBits(value) + steps)
        : Float.intBitsToFloat(Float.floatToIntBits((float) value) + (int) steps);
  }
}
