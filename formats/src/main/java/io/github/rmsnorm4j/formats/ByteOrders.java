package io.github.rmsnorm4j.formats;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/** Converts elements from the byte order of a file to the byte order of this machine. */
final class ByteOrders {
  private ByteOrders() {}

  /** Reverses the bytes of each element if they are not in the byte order of this machine. */
  static void toNative(MemorySegment elements, int elementBytes, ByteOrder order) {
    if (order == ByteOrder.nativeOrder()) {
      return;
    }
    long end = elements.byteSize();
    switch (elementBytes) {
      case 2 -> {
        for (long i = 0; i < end; i += 2) {
          short bits = elements.get(JAVA_SHORT_UNALIGNED, i);
          elements.set(JAVA_SHORT_UNALIGNED, i, Short.reverseBytes(bits));
        }
      }
      case 4 -> {
        for (long i = 0; i < end; i += 4) {
          int bits = elements.get(JAVA_INT_UNALIGNED, i);
          elements.set(JAVA_INT_UNALIGNED, i, Integer.reverseBytes(bits));
        }
      }
      case 8 -> {
        for (long i = 0; i < end; i += 8) {
          long bits = elements.get(JAVA_LONG_UNALIGNED, i);
          elements.set(JAVA_LONG_UNALIGNED, i, Long.reverseBytes(bits));
        }
      }
      default -> throw new IllegalArgumentException("elements of " + elementBytes + " bytes");
    }
  }
}
