package io.github.rmsnorm4j.internal.machine;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Memory that is written once, and from then on can be executed and read, but never written again.
 * Each piece of code has fresh pages. They stay until the process ends.
 *
 * <p>Linux only: the numbers are those of its headers for x86-64.
 */
public final class ExecutableMemory {
  private static final int PROT_READ = 1;
  private static final int PROT_WRITE = 2;
  private static final int PROT_EXEC = 4;
  private static final int MAP_PRIVATE = 2;
  private static final int MAP_ANONYMOUS = 0x20;
  private static final long PAGE = 4096;

  private static final MethodHandle MMAP =
      function(
          "mmap",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));

  private static final MethodHandle MPROTECT =
      function("mprotect", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));

  private static final MethodHandle MUNMAP =
      function("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

  private ExecutableMemory() {}

  @SuppressWarnings("restricted")
  private static MethodHandle function(String name, FunctionDescriptor type) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
  }

  /**
   * Puts code into memory.
   *
   * @return where it begins
   * @throws UnsupportedOperationException if the system refuses memory that can be executed
   */
  @SuppressWarnings("restricted")
  public static MemorySegment of(Code code) {
    long size = (code.bytes().length + PAGE - 1) & -PAGE;
    try {
      long at =
          (long)
              MMAP.invokeExact(
                  0L, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
      if (at == -1) {
        throw new UnsupportedOperationException("the system has no memory for machine code");
      }
      MemorySegment memory = MemorySegment.ofAddress(at).reinterpret(size);
      MemorySegment.copy(MemorySegment.ofArray(code.bytes()), 0, memory, 0, code.bytes().length);
      if ((int) MPROTECT.invokeExact(at, size, PROT_READ | PROT_EXEC) != 0) {
        int unmapped = (int) MUNMAP.invokeExact(at, size);
        throw new UnsupportedOperationException(
            "the system refuses to execute memory that was written");
      }
      return memory;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
