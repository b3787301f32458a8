package io.github.rmsnorm4j.internal.machine;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
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

  /** The access to pages: never both writing and executing. */
  public enum Access {
    /** Any access ends the process. */
    NONE(PROT_NONE),
    READ_WRITE(PROT_READ | PROT_WRITE),
    READ_EXECUTE(PROT_READ | PROT_EXEC);

    private final int bits;

    Access(int bits) {
      this.bits = bits;
    }
  }

  private SystemMemory() {}

  private static MemorySegment function(String name) {
    return Linker.nativeLinker().defaultLookup().find(name).orElseThrow();
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
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    long at = NativeCall.of(function("mmap"), 0, bytes, access.bits, flags, -1, 0);
    return at == -1
        ? Optional.empty()
        : Optional.of(MemorySegment.ofAddress(at).reinterpret(bytes));
  }

  /**
   * Changes the access to whole pages.
   *
   * @return false if the system refuses
   */
  public static boolean protect(MemorySegment pages, Access access) {
    return (int) NativeCall.of(function("mprotect"), pages.address(), pages.byteSize(), access.bits)
        == 0;
  }

  /**
   * Frees whole pages.
   *
   * @return false if the system refuses
   */
  public static boolean unmap(MemorySegment pages) {
    return (int) NativeCall.of(function("munmap"), pages.address(), pages.byteSize(), 0) == 0;
  }
}
