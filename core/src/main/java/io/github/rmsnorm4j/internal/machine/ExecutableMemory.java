package io.github.rmsnorm4j.internal.machine;

import java.lang.foreign.MemorySegment;

/**
 * Memory that is written once. Then it can be executed and read, but never written again. Each
 * piece of code has fresh pages. Pages of code in use stay until the process ends.
 */
public final class ExecutableMemory {
  private ExecutableMemory() {}

  /**
   * Copies code into such memory.
   *
   * @return the address of the code
   * @throws OutOfMemoryError if the system has no memory
   * @throws UnsupportedOperationException if the system refuses memory that can be executed
   */
  public static MemorySegment of(Code code) {
    byte[] bytes = code.bytes();
    MemorySegment memory =
        SystemMemory.map(SystemMemory.wholePages(bytes.length), SystemMemory.Access.READ_WRITE)
            .orElseThrow(() -> new OutOfMemoryError("the system has no memory for machine code"));
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
    if (!SystemMemory.protect(memory, SystemMemory.Access.READ_EXECUTE)) {
      SystemMemory.unmap(memory);
      throw new UnsupportedOperationException(
          "the system refuses to execute memory that was written");
    }
    return memory;
  }

  /** Frees the pages of code that will not run. */
  public static void giveBack(MemorySegment code) {
    SystemMemory.unmap(code);
  }
}
