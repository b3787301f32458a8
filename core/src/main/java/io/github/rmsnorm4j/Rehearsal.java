package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Calls on rows of nobody. They make a kernel, and the JIT compiles the way to it before a caller
 * takes it.
 *
 * @param ofNative whether rows are in native memory, or in arrays
 * @param adds whether there is a residual
 */
record Rehearsal(int width, boolean ofNative, boolean adds) {
  /** Two are several. */
  private static final int ROWS = 2;

  /** So many calls, or as many as this time allows, are compiled well enough. */
  private static final int CALLS = 6_000;

  private static final long NANOS = 100_000_000;

  private static final int WIDEST = 1 << 18;

  /** Whether there was one. The way is the same for all norms. */
  private static volatile boolean isOver;

  /** A call, which is false if there is no kernel for it. */
  interface Calls {
    boolean compute(Rows x, @Nullable Rows residual, Rows y);
  }

  /** False if no kernel served. Wide rows would take much memory: a call asks for their kernel. */
  boolean run(Calls calls) {
    if (width > WIDEST) {
      return true;
    }
    try (Arena arena = Arena.ofConfined()) {
      Rows x = rows(arena);
      Rows residual = adds ? rows(arena) : null;
      Rows y = rows(arena);
      boolean served = calls.compute(x, residual, y);
      long end = System.nanoTime() + NANOS;
      for (int i = 0; served && !isOver && i < CALLS && System.nanoTime() - end < 0; i++) {
        calls.compute(x, residual, y);
      }
      isOver |= served;
      return served;
    }
  }

  private Rows rows(Arena arena) {
    if (!ofNative) {
      float[] array = new float[ROWS * width];
      array[0] = 1;
      array[width] = 1;
      return Rows.of(array, width);
    }
    MemorySegment segment = arena.allocate((long) ROWS * width * Float.BYTES, 64);
    segment.setAtIndex(ValueLayout.JAVA_FLOAT, 0, 1);
    segment.setAtIndex(ValueLayout.JAVA_FLOAT, width, 1);
    return Rows.of(segment, ElementType.FLOAT32, ROWS, width);
  }
}
