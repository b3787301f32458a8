package io.github.rmsnorm4j.models.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Float32 elements of native memory, for loops.
 *
 * <p>A slice of a constant segment has a class that the JIT knows. A segment that comes from
 * elsewhere has not, and loops over it become several times slower once the process has used other
 * kinds of segments. To be made once for a memory: a slice is an object more often than not. Bounds
 * are checked as for any segment. Does not keep the memory alive: the elements must not be used
 * after the memory has been given back.
 *
 * @param exact the elements, as a slice of the constant segment; the constructor takes any segment
 *     of native memory
 */
public record Floats(MemorySegment exact) {
  /**
   * The elements of a memory.
   *
   * @throws IllegalArgumentException if it is not native memory, or not whole elements
   */
  public Floats {
    if (!exact.isNative() || exact.byteSize() % Float.BYTES != 0) {
      throw new IllegalArgumentException("not whole floats in native memory: " + exact);
    }
    exact = Native.EVERYTHING.asSlice(exact.address(), exact.byteSize());
  }

  /**
   * {@return an element}
   *
   * @param i its index
   * @throws IndexOutOfBoundsException if there is none
   */
  public float get(long i) {
    return exact.get(ValueLayout.JAVA_FLOAT, i * Float.BYTES);
  }

  /**
   * Sets an element.
   *
   * @param i its index
   * @param value what it is set to
   * @throws IndexOutOfBoundsException if there is none
   */
  public void set(long i, float value) {
    exact.set(ValueLayout.JAVA_FLOAT, i * Float.BYTES, value);
  }

  /** Its own class, so that it is made only when there is memory to reach. */
  @SuppressWarnings("restricted")
  private static final class Native {
    static final MemorySegment EVERYTHING = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  }
}
