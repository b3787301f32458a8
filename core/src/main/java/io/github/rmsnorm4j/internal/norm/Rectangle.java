package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/** Where a rectangle of rows lies, for kernels. */
final class Rectangle {
  Memory memory;
  Object base;
  long offset;
  long stride;

  /** In the workspace, row after row, in the arithmetic's type. */
  void packed(Workspace work, boolean float64, int rows, int columns) {
    int n = rows * columns;
    memory = Memory.HEAP;
    base = float64 ? work.doubles(n) : work.floats(n);
    offset = 0;
    stride = (long) columns * (float64 ? Double.BYTES : Float.BYTES);
  }

  /** One element of the first row. */
  double get(boolean float64, int i) {
    return memory.get(float64, base, offset, i);
  }

  void set(boolean float64, int i, double value) {
    memory.set(float64, base, offset, i, value);
  }
}
