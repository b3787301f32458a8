package io.github.rmsnorm4j.internal.kernel;

/** Where a rectangle of rows lies, for kernels. */
public final class Rectangle {
  public Memory memory;
  public Object base;
  public long offset;
  public long stride;

  /** In the workspace, row after row, in the arithmetic's type. */
  public void packed(Workspace work, boolean float64, int rows, int columns) {
    int n = rows * columns;
    memory = Memory.HEAP;
    base = float64 ? work.doubles(n) : work.floats(n);
    offset = 0;
    stride = (long) columns * (float64 ? Double.BYTES : Float.BYTES);
  }

  /** The same as another one. */
  public void copy(Rectangle other) {
    memory = other.memory;
    base = other.base;
    offset = other.offset;
    stride = other.stride;
  }

  /** Nowhere: it keeps nobody's array alive. */
  public void clear() {
    memory = null;
    base = null;
  }

  /** What is left of another one after its first elements of each row. */
  public Rectangle after(Rectangle whole, boolean float64, int elements) {
    memory = whole.memory;
    base = whole.base;
    offset = whole.offset + (long) elements * (float64 ? Double.BYTES : Float.BYTES);
    stride = whole.stride;
    return this;
  }

  /** One element of the first row. */
  public double get(boolean float64, int i) {
    return memory.get(float64, base, offset, i);
  }

  public void set(boolean float64, int i, double value) {
    memory.set(float64, base, offset, i, value);
  }
}
