package io.github.rmsnorm4j.models.rows;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.MemorySegment;

/**
 * Counts the elements that are NaN or infinite, eight bytes at a time.
 *
 * <p>Those are the elements whose exponent is all ones: with one added to its last place it carries
 * into the sign's, which has been cleared before.
 */
public final class NonFinite {
  private final long exponent;
  private final long one;
  private final long sign;

  /**
   * For elements of a type.
   *
   * @param type the type
   */
  public NonFinite(ElementType type) {
    exponent =
        switch (type) {
          case FLOAT64 -> 0x7ff0000000000000L;
          case FLOAT32 -> 0x7f8000007f800000L;
          case FLOAT16 -> 0x7c007c007c007c00L;
          case BFLOAT16 -> 0x7f807f807f807f80L;
        };
    one = exponent & ~(exponent << 1);
    sign = exponent + one;
  }

  /**
   * {@return how many of the elements are not finite}
   *
   * @param elements elements of the type, which fill the segment
   */
  public long count(MemorySegment elements) {
    long whole = elements.byteSize() & -Long.BYTES;
    long count = 0;
    for (long at = 0; at < whole; at += Long.BYTES) {
      count += Long.bitCount(carries(elements.get(JAVA_LONG_UNALIGNED, at)));
    }
    // What is left of the last word; absent elements are zeros.
    long rest = 0;
    for (long at = elements.byteSize() - 1; at >= whole; at--) {
      rest = rest << Byte.SIZE | Byte.toUnsignedLong(elements.get(JAVA_BYTE, at));
    }
    return count + Long.bitCount(carries(rest));
  }

  private long carries(long word) {
    return (word & exponent) + one & sign;
  }
}
