package io.github.rmsnorm4j.cuda.interpret;

import java.util.ArrayList;
import java.util.List;

/** The memory of a device: allocations that are far from one another. */
public final class GlobalMemory {
  private static final int SHIFT = 40;

  private final List<CheckedMemory> allocations = new ArrayList<>();
  private int launch;

  /** Memory with contents that a kernel may read and, unless it is read only, write. */
  public long allocate(String name, byte[] contents, boolean readOnly) {
    return add(new CheckedMemory(name, contents, true, readOnly, !readOnly));
  }

  /** Memory that a kernel must write before it reads it; the bytes are there for the caller. */
  public long allocateUnwritten(String name, byte[] bytes) {
    return add(new CheckedMemory(name, bytes, false, false, true));
  }

  private long add(CheckedMemory memory) {
    allocations.add(memory);
    return (long) allocations.size() << SHIFT;
  }

  /** Begins a launch, after all before it. */
  void begin() {
    launch++;
  }

  int launch() {
    return launch;
  }

  CheckedMemory at(long address) {
    long allocation = (address >>> SHIFT) - 1;
    if (allocation < 0 || allocation >= allocations.size()) {
      throw new PtxFault("out of bounds: no memory at address 0x" + Long.toHexString(address));
    }
    return allocations.get((int) allocation);
  }

  static long offset(long address) {
    return address & (1L << SHIFT) - 1;
  }
}
