package io.github.rmsnorm4j.internal.machine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Native memory of one owner, zeros at first. The system gets it back when the owner closes it. An
 * owner that is lost without that, or a norm that is dropped, leaves it to the garbage collector.
 *
 * <p>It does not count against the JVM's limit of direct memory, which belongs to the program.
 */
public final class NativeMemory implements AutoCloseable {
  /**
   * Where the memory begins in its first page, aligned to a cache line. Rows in native memory often
   * begin at a page. A processor compares only the low 12 bits of addresses at first: a load whose
   * bits are those of an earlier store waits for it (4K aliasing). Columns that began at a page too
   * would have loads of a gain wait for stores of y.
   */
  private static final long OFFSET = SystemMemory.PAGE / 2 + 64;

  /** Pages that are unmapped once, by the owner or by the garbage collector. */
  private static final class Pages {
    private final MemorySegment pages;
    private final Runnable unmapped;
    private boolean mapped = true;

    Pages(MemorySegment pages, Runnable unmapped) {
      this.pages = pages;
      this.unmapped = unmapped;
    }

    synchronized void unmap() {
      if (mapped) {
        mapped = false;
        SystemMemory.unmap(pages);
        unmapped.run();
      }
    }
  }

  private final Pages pages;
  private final MemorySegment segment;

  /**
   * Takes memory from the system.
   *
   * @throws OutOfMemoryError if the system refuses
   */
  public NativeMemory(long bytes) {
    this(bytes, () -> {});
  }

  /**
   * Takes memory from the system.
   *
   * @param unmapped runs when the system has the memory back; must not refer to this object
   * @throws OutOfMemoryError if the system refuses
   */
  @SuppressWarnings("restricted")
  public NativeMemory(long bytes, Runnable unmapped) {
    MemorySegment mapped =
        SystemMemory.map(taken(bytes), SystemMemory.Access.READ_WRITE)
            .orElseThrow(
                () -> new OutOfMemoryError("the system has no " + bytes + " bytes of memory"));
    Pages once = new Pages(mapped, unmapped);
    pages = once;
    segment = mapped.reinterpret(Arena.ofAuto(), ofSystem -> once.unmap()).asSlice(OFFSET, bytes);
  }

  /** What so many bytes take from the system. */
  public static long taken(long bytes) {
    return SystemMemory.wholePages(OFFSET + bytes);
  }

  /** The memory. Whoever has it keeps it from the garbage collector, but not from its owner. */
  public MemorySegment segment() {
    return segment;
  }

  /** Gives the memory back. Nobody may use it any more. */
  @Override
  public void close() {
    pages.unmap();
  }
}
