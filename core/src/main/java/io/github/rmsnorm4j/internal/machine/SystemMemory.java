package io.github.rmsnorm4j.internal.machine;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Pages of memory from the system.
 *
 * <p>Linux only: the numbers are those of its headers, the same for x86-64 and AArch64.
 */
public final class SystemMemory {
  /** Bytes of a page. */
  public static final long PAGE = 4096;

  private static final int PROT_NONE = 0;
  private static final int PROT_READ = 1;
  private static final int PROT_WRITE = 2;
  private static final int PROT_EXEC = 4;
  private static final int MAP_PRIVATE = 2;
  private static final int MAP_ANONYMOUS = 0x20;

  private static final MethodHandle MMAP =
      function(
          "mmap",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));

  private static final MethodHandle MPROTECT =
      function("mprotect", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));

  private static final MethodHandle MUNMAP =
      function("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

  /** What may be done with pages: never both written and executed. */
  public enum Access {
    /** Whoever touches it ends the process. */
    NONE(PROT_NONE),
    READ_WRITE(PROT_READ | PROT_WRITE),
    READ_EXECUTE(PROT_READ | PROT_EXEC);

    private final int bits;

    Access(int bits) {
      this.bits = bits;
    }
  }

  private SystemMemory() {}

  @SuppressWarnings("restricted")
  private static MethodHandle function(String name, FunctionDescriptor type) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
  }

  /** The size of the whole pages that so many bytes need. */
  public static long wholePages(long bytes) {
    return (bytes + PAGE - 1) & -PAGE;
  }

  /**
   * Fresh pages, which stay until they are unmapped.
   *
   * @param bytes of whole pages
   * @return empty if the system refuses
   */
  @SuppressWarnings("restricted")
  public static Optional<MemorySegment> map(long bytes, Access access) {
    try {
      int flags = MAP_PRIVATE | MAP_ANONYMOUS;
      long at = (long) MMAP.invokeExact(0L, bytes, access.bits, flags, -1, 0L);
      return at == -1
          ? Optional.empty()
          : Optional.of(MemorySegment.ofAddress(at).reinterpret(bytes));
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /**
   * Changes what may be done with whole pages.
   *
   * @return false if the system refuses
   */
  public static boolean protect(MemorySegment pages, Access access) {
    try {
      return (int) MPROTECT.invokeExact(pages.address(), pages.byteSize(), access.bits) == 0;
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /**
   * Gives whole pages back.
   *
   * @return false if the system refuses
   */
  public static boolean unmap(MemorySegment pages) {
    try {
      return (int) MUNMAP.invokeExact(pages.address(), pages.byteSize()) == 0;
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  private static RuntimeException unchecked(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException exception ? exception : new IllegalStateException(e);
  }
}
