package io.github.rmsnorm4j.formats;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Converts elements from the byte order of a file to the byte order of this machine. */
final class ByteOrders {
  private ByteOrders() {}

  /** Reverses the bytes of each element if they are not in the byte order of this machine. */
  static void toNative(MemorySegment elements, int elementBytes, ByteOrder order) {
    if (order != ByteOrder.nativeOrder()) {
      ValueLayout layout = layout(elementBytes);
      long count = elements.byteSize() / elementBytes;
      MemorySegment.copy(elements, layout.withOrder(order), 0, elements, layout, 0, count);
    }
  }

  private static ValueLayout layout(int elementBytes) {
    return switch (elementBytes) {
      case 2 -> ValueLayout.JAVA_SHORT_UNALIGNED;
      case 4 -> ValueLayout.JAVA_INT_UNALIGNED;
      case 8 -> ValueLayout.JAVA_LONG_UNALIGNED;
      default -> throw new IllegalArgumentException("elements of " + elementBytes + " bytes");
    };
  }
}
