package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of each kind that kernels may write, and that is not read. Its owner closes it. */
final class Scratch implements AutoCloseable {
  private static final long ALIGNMENT = 64;

  private final Object[] arrays = new Object[Tensor.Access.ELEMENT.places()];
  private final Arena[] arenas = new Arena[Tensor.Access.ELEMENT.places()];
  private final MemorySegment[] segments = new MemorySegment[Tensor.Access.ELEMENT.places()];

  /** Points an operand of a frame at n elements of the kind of its rows. */
  void place(Frame frame, Tensor operand, RowMemory rows, int n) {
    int i = operand.place();
    ElementType type = rows.type();
    if (rows.segment().isNative()) {
      long bytes = (long) n * type.bytes();
      if (segments[i] == null || segments[i].byteSize() < bytes) {
        close(i);
        arenas[i] = Arena.ofShared();
        segments[i] = arenas[i].allocate(bytes, ALIGNMENT);
      }
      frame.place(operand, null, segments[i].address(), 0);
    } else {
      frame.place(operand, array(i, type, n), 0, 0);
    }
  }

  private void close(int i) {
    if (arenas[i] != null) {
      arenas[i].close();
      arenas[i] = null;
      segments[i] = null;
    }
  }

  @Override
  public void close() {
    for (int i = 0; i < arenas.length; i++) {
      close(i);
    }
  }

  private Object array(int i, ElementType type, int n) {
    boolean fits =
        switch (arrays[i]) {
          case float[] a -> type == ElementType.FLOAT32 && a.length >= n;
          case double[] a -> type == ElementType.FLOAT64 && a.length >= n;
          case short[] a -> type.bytes() == Short.BYTES && a.length >= n;
          case null, default -> false;
        };
    if (!fits) {
      arrays[i] =
          switch (type) {
            case FLOAT32 -> new float[n];
            case FLOAT64 -> new double[n];
            case FLOAT16, BFLOAT16 -> new short[n];
          };
    }
    return arrays[i];
  }
}
