package io.github.rmsnorm4j;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Memory between two pages that nobody may touch, on Linux. Whoever does ends the process. */
final class GuardedMemory implements AutoCloseable {
  private static final long PAGE = 4096;
  private static final int PROT_NONE = 0;
  private static final int PROT_READ_WRITE = 3;
  private static final int PRIVATE_ANONYMOUS = 0x22;

  private static final MethodHandle MMAP =
      function(
          "mmap",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));

  private static final MethodHandle MPROTECT =
      function("mprotect", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));

  private static final MethodHandle MUNMAP =
      function("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

  private final long start;
  private final long pages;

  /** At most so many bytes at a time. */
  GuardedMemory(long bytes) {
    pages = bytes + PAGE - 1 & -PAGE;
    try {
      start = (long) MMAP.invokeExact(0L, pages + 2 * PAGE, PROT_NONE, PRIVATE_ANONYMOUS, -1, 0L);
      if ((int) MPROTECT.invokeExact(start + PAGE, pages, PROT_READ_WRITE) != 0) {
        throw new IllegalStateException("mprotect");
      }
    } catch (RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @SuppressWarnings("restricted")
  private static MethodHandle function(String name, FunctionDescriptor type) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
  }

  /** Bytes that end where the memory ends, or that begin where it begins. */
  @SuppressWarnings("restricted")
  MemorySegment bytes(long bytes, boolean atEnd) {
    long at = start + PAGE + (atEnd ? pages - bytes : 0);
    return MemorySegment.ofAddress(at).reinterpret(bytes);
  }

  @Override
  public void close() {
    try {
      int done = (int) MUNMAP.invokeExact(start, pages + 2 * PAGE);
      if (done != 0) {
        throw new IllegalStateException("munmap");
      }
    } catch (RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /** Copies segments of the same length. */
  static MemorySegment copy(MemorySegment from, MemorySegment to) {
    MemorySegment.copy(
        from, ValueLayout.JAVA_BYTE, 0, to, ValueLayout.JAVA_BYTE, 0, from.byteSize());
    return to;
  }
}
