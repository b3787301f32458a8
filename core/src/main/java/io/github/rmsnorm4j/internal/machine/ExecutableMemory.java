package io.github.rmsnorm4j.internal.machine;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Memory that is written once, and from then on can be executed and read, but never written again.
 * Each piece of code has fresh pages. Those of code that is used stay until the process ends.
 */
public final class ExecutableMemory {
  private ExecutableMemory() {}

  /**
   * Puts code into memory.
   *
   * @return where it begins
   * @throws UnsupportedOperationException if the system refuses memory that can be executed
   */
  public static MemorySegment of(Code code) {
    byte[] bytes = code.bytes();
    Optional<MemorySegment> mapped =
        SystemMemory.map(SystemMemory.wholePages(bytes.length), SystemMemory.Access.READ_WRITE);
    if (mapped.isEmpty()) {
      throw new UnsupportedOperationException("the system has no memory for machine code");
    }
    MemorySegment memory = mapped.get();
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
    if (!SystemMemory.protect(memory, SystemMemory.Access.READ_EXECUTE)) {
      SystemMemory.unmap(memory);
      throw new UnsupportedOperationException(
          "the system refuses to execute memory that was written");
    }
    return memory;
  }

  /** Gives the pages of code back that nobody will run. */
  public static void giveBack(MemorySegment code) {
    SystemMemory.unmap(code);
  }
}
