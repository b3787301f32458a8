package io.github.rmsnorm4j.cuda.driver;

import io.github.rmsnorm4j.cuda.CudaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Memory that the driver gives, with the life of an arena. */
public final class Allocation {
  private static final int OUT_OF_MEMORY = 2;
  private static final int NO_FLAGS = 0;

  private Allocation() {}

  /**
   * Memory of the device, with any content. Its segment stands for addresses of the device: it has
   * their life and bounds, and no code may read or write through it.
   *
   * @param bytes the size, 0 or more
   */
  public static MemorySegment ofDevice(CudaContext context, long bytes, Arena arena) {
    requireAlive(arena);
    if (bytes == 0) {
      return bound(MemorySegment.NULL, 0, arena, () -> {});
    }
    requireFree(context, bytes);
    long address;
    try {
      address = context.ask(EntryPoint.MEM_ALLOC, bytes);
    } catch (CudaException e) {
      // Free memory need not be in one piece, and others allocate too.
      throw e.code() == OUT_OF_MEMORY ? shortage(context, bytes, free(context)) : e;
    }
    Resource resource = context.own(EntryPoint.MEM_FREE, address);
    return bound(MemorySegment.ofAddress(address), bytes, arena, resource::close);
  }

  /**
   * Memory of the host that the device reads and writes itself, while the processor does other
   * work.
   *
   * @param bytes the size, 0 or more
   */
  public static MemorySegment ofPinnedHost(CudaContext context, long bytes, Arena arena) {
    requireAlive(arena);
    if (bytes == 0) {
      return bound(MemorySegment.NULL, 0, arena, () -> {});
    }
    MemorySegment address = pinned(context, bytes);
    Resource resource = context.own(EntryPoint.MEM_FREE_HOST, address);
    return bound(address, bytes, arena, resource::close);
  }

  /** The driver does not say how much memory of the host could be pinned. */
  private static MemorySegment pinned(CudaContext context, long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment cell = arena.allocate(ValueLayout.ADDRESS);
      String asked = ": %s bytes of pinned memory of the host are asked for".formatted(bytes);
      context.callDuring(asked, EntryPoint.MEM_HOST_ALLOC, cell, bytes, NO_FLAGS);
      return cell.get(ValueLayout.ADDRESS, 0);
    }
  }

  private static void requireAlive(Arena arena) {
    if (!arena.scope().isAlive()) {
      throw new IllegalStateException("arena is closed");
    }
  }

  @SuppressWarnings("restricted")
  private static MemorySegment bound(
      MemorySegment address, long bytes, Arena arena, Runnable release) {
    try {
      return address.reinterpret(bytes, arena, at -> release.run());
    } catch (RuntimeException e) { // another thread's arena, or closed meanwhile
      release.run();
      throw e;
    }
  }

  private static void requireFree(CudaContext context, long bytes) {
    long free = free(context);
    if (bytes > free) {
      throw shortage(context, bytes, free);
    }
  }

  /** Bytes of the device that nothing uses. */
  public static long free(CudaContext context) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment free = arena.allocate(ValueLayout.JAVA_LONG);
      MemorySegment total = arena.allocate(ValueLayout.JAVA_LONG);
      context.call(EntryPoint.MEM_GET_INFO, free, total);
      return free.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  private static CudaException shortage(CudaContext context, long bytes, long free) {
    return context.failure(
        EntryPoint.MEM_ALLOC,
        OUT_OF_MEMORY,
        ": %s bytes are asked for, %s are free".formatted(bytes, free));
  }
}
