package io.github.rmsnorm4j.studies.compare;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Tensors in native memory. It is from malloc: an arena's own memory counts towards the JVM's limit
 * for direct buffers.
 */
final class Tensors implements Pool<MemorySegment>, AutoCloseable {
  private static final int PAGE = 4096;

  private final long bytes;
  private final Arena arena = Arena.ofShared();
  private final Deque<MemorySegment> free = new ArrayDeque<>();

  Tensors(long bytes) {
    this.bytes = bytes;
  }

  @Override
  public MemorySegment take() {
    return free.isEmpty() ? allocate() : free.pop();
  }

  @Override
  public void giveBack(MemorySegment tensor) {
    free.push(tensor);
  }

  @SuppressWarnings("restricted") // This program's jar is allowed to.
  private MemorySegment allocate() {
    long padded = Math.addExact(bytes, PAGE);
    MemorySegment raw;
    try {
      raw = (MemorySegment) C.MALLOC.invokeExact(padded);
    } catch (Throwable e) {
      throw new IllegalStateException("malloc cannot be called", e);
    }
    if (raw.address() == 0) {
      throw new IllegalStateException(
          "there is no memory for one more tensor of " + (bytes >> 20) + " MiB");
    }
    MemorySegment whole = raw.reinterpret(padded, arena, Tensors::release);
    return whole.asSlice(Math.floorMod(-raw.address(), (long) PAGE), bytes);
  }

  private static void release(MemorySegment memory) {
    try {
      C.FREE.invokeExact(memory);
    } catch (Throwable e) {
      throw new IllegalStateException("free cannot be called", e);
    }
  }

  @Override
  public void close() {
    arena.close();
  }

  /** Apart, so that it is looked up when it is wanted. */
  @SuppressWarnings("restricted")
  private static final class C {
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;
    private static final Linker LINKER = Linker.nativeLinker();
    static final MethodHandle MALLOC =
        call("malloc", FunctionDescriptor.of(POINTER, ValueLayout.JAVA_LONG));
    static final MethodHandle FREE = call("free", FunctionDescriptor.ofVoid(POINTER));

    private static MethodHandle call(String name, FunctionDescriptor type) {
      return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type);
    }
  }
}
