package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Iterator;

/** Native memory for copies of columns, which is kept from call to call, up to a limit. */
public final class ColumnMemory {
  /** The most bytes that are kept. */
  private static final long MAX_BYTES = 1 << 26;

  /** What came back last is first. Its lock also guards the number of bytes. */
  private static final ArrayDeque<NativeMemory> KEPT = new ArrayDeque<>();

  private static long bytesKept;

  private ColumnMemory() {}

  /**
   * Memory of at least so many bytes, and of no more than twice as many; its content is undefined.
   */
  public static NativeMemory take(long bytes) {
    synchronized (KEPT) {
      for (Iterator<NativeMemory> all = KEPT.iterator(); all.hasNext(); ) {
        NativeMemory memory = all.next();
        long size = memory.segment().byteSize();
        if (size >= bytes && size <= 2 * bytes) {
          all.remove();
          bytesKept -= size;
          return memory;
        }
      }
    }
    return new NativeMemory(bytes);
  }

  /** A copy of the first numbers of a float[] or double[]. */
  static NativeMemory copy(Object numbers, int width) {
    ValueLayout layout = layout(numbers);
    NativeMemory copy = take(width * layout.byteSize());
    MemorySegment.copy(numbers, 0, copy.segment(), layout, 0, width);
    return copy;
  }

  /** A float[] or double[] as a segment. */
  public static MemorySegment segment(Object numbers) {
    return numbers instanceof double[] doubles
        ? MemorySegment.ofArray(doubles)
        : MemorySegment.ofArray((float[]) numbers);
  }

  /** The elements of a column's array. */
  public static ValueLayout layout(Object numbers) {
    return numbers instanceof double[] ? ValueLayout.JAVA_DOUBLE : ValueLayout.JAVA_FLOAT;
  }

  /** Takes memory back; nobody may use it any more. */
  public static void giveBack(NativeMemory copy) {
    if (copy.segment().byteSize() > MAX_BYTES) {
      copy.close();
      return;
    }
    synchronized (KEPT) {
      KEPT.addFirst(copy);
      bytesKept += copy.segment().byteSize();
      while (bytesKept > MAX_BYTES) {
        NativeMemory oldest = KEPT.removeLast();
        bytesKept -= oldest.segment().byteSize();
        oldest.close();
      }
    }
  }
}
