package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.internal.machine.SystemMemory.PAGE;

import io.github.rmsnorm4j.internal.machine.SystemMemory;
import io.github.rmsnorm4j.internal.machine.SystemMemory.Access;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Memory between two guard pages, on Linux. Any access to a guard page ends the process. */
public final class GuardedMemory implements AutoCloseable {
  private final MemorySegment all;
  private final MemorySegment inside;

  /** At most so many bytes at a time. */
  public GuardedMemory(long bytes) {
    long pages = SystemMemory.wholePages(bytes);
    all =
        SystemMemory.map(pages + 2 * PAGE, Access.NONE)
            .orElseThrow(() -> new IllegalStateException("mmap"));
    inside = all.asSlice(PAGE, pages);
    if (!SystemMemory.protect(inside, Access.READ_WRITE)) {
      throw new IllegalStateException("mprotect");
    }
  }

  /** Bytes that end where the memory ends, or that begin where it begins. */
  public MemorySegment bytes(long bytes, boolean atEnd) {
    return inside.asSlice(atEnd ? inside.byteSize() - bytes : 0, bytes);
  }

  @Override
  public void close() {
    if (!SystemMemory.unmap(all)) {
      throw new IllegalStateException("munmap");
    }
  }

  /** Copies segments of the same length. */
  static MemorySegment copy(MemorySegment from, MemorySegment to) {
    MemorySegment.copy(
        from, ValueLayout.JAVA_BYTE, 0, to, ValueLayout.JAVA_BYTE, 0, from.byteSize());
    return to;
  }
}
