package io.github.rmsnorm4j.cuda.interpret;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongFunction;

/** The memory of a device: allocations that are far from one another, or those of a driver. */
public final class GlobalMemory {
  /** Allocations that are made here begin at its multiples. */
  private static final long DISTANCE = 1L << 40;

  /** By their first address. */
  private final NavigableMap<Long, CheckedMemory> allocations = new TreeMap<>();

  private final LongFunction<MemorySegment> driver;
  private CheckedMemory last;
  private int launch;

  /** No memory is allocated. */
  public GlobalMemory() {
    this(address -> MemorySegment.NULL);
  }

  /**
   * The memory of a driver. Kernels read and write copies of its allocations.
   *
   * @param driver gives the allocation that holds an address, at its own address; an empty one if
   *     there is none
   */
  public GlobalMemory(LongFunction<MemorySegment> driver) {
    this.driver = driver;
  }

  /** Memory with contents that a kernel may read and, unless it is read only, write. */
  public long allocate(String name, byte[] contents, boolean readOnly) {
    return add(name, contents, true, readOnly);
  }

  /** Memory that a kernel must write before it reads it; the bytes are there for the caller. */
  public long allocateUnwritten(String name, byte[] bytes) {
    return add(name, bytes, false, false);
  }

  private long add(String name, byte[] bytes, boolean initialised, boolean readOnly) {
    long base = (allocations.size() + 1) * DISTANCE;
    allocations.put(base, new CheckedMemory(name, base, bytes, initialised, readOnly, !readOnly));
    return base;
  }

  /** Writes the copies of a driver's memory back. */
  public void giveBack() {
    allocations.forEach(
        (base, copy) ->
            MemorySegment.copy(
                copy.bytes(), 0, driver.apply(base), JAVA_BYTE, 0, copy.bytes().length));
  }

  /** Begins a launch, after all before it. */
  void begin() {
    launch++;
  }

  int launch() {
    return launch;
  }

  /** The allocation that an address is in, or behind. */
  CheckedMemory at(long address) {
    if (last == null || !last.has(address)) {
      last = find(address);
    }
    return last;
  }

  private CheckedMemory find(long address) {
    Map.Entry<Long, CheckedMemory> before = allocations.floorEntry(address);
    if (before != null && before.getValue().has(address)) {
      return before.getValue();
    }
    MemorySegment there = driver.apply(address);
    if (there.byteSize() > 0) {
      long base = there.address();
      String name = "memory at 0x" + Long.toHexString(base);
      byte[] copy = there.toArray(JAVA_BYTE);
      allocations.put(base, new CheckedMemory(name, base, copy, true, false, true));
      return allocations.get(base);
    }
    if (before == null) {
      throw new PtxFault("out of bounds: no memory at address 0x" + Long.toHexString(address));
    }
    return before.getValue();
  }
}
