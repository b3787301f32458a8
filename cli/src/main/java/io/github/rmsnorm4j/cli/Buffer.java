package io.github.rmsnorm4j.cli;

import java.lang.foreign.Arena;
import java.util.function.Supplier;

/** Memory of some kind that is replaced where it is too small. */
final class Buffer<M> implements AutoCloseable {
  private final Supplier<Arena> arenas;
  private final Allocator<M> allocator;
  private Arena arena;
  private M memory;
  private long bytes;

  /** Allocates memory that lives as long as an arena. */
  interface Allocator<M> {
    M allocate(long bytes, Arena arena);
  }

  Buffer(Supplier<Arena> arenas, Allocator<M> allocator) {
    this.arenas = arenas;
    this.allocator = allocator;
  }

  /** Gets memory of at least a size. What was given before may be gone. */
  void atLeast(long needed) {
    if (memory == null || bytes < needed) {
      close();
      arena = arenas.get();
      memory = allocator.allocate(needed, arena);
      bytes = needed;
    }
  }

  /** The memory there is. */
  M memory() {
    return memory;
  }

  /** Its size; 0 where there is none. */
  long bytes() {
    return bytes;
  }

  /** Frees it. */
  @Override
  public void close() {
    memory = null;
    bytes = 0;
    if (arena != null) {
      arena.close();
      arena = null;
    }
  }
}
