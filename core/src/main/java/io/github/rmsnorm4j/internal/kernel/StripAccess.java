package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;

/** Copies strips of elements between the rows and columns of a frame and arrays. */
public final class StripAccess {
  private StripAccess() {}

  private static long at(Frame frame, int slot, int row, int i, ElementType type) {
    return frame.offset[slot] + row * frame.stride[slot] + (long) i * type.bytes();
  }

  /**
   * Reads n elements of a row.
   *
   * @param into double[] for float64, otherwise float[]
   */
  public static void load(Frame frame, Value element, int row, int i, Object into, int n) {
    int slot = element.tensor().slot();
    Object base = frame.base[slot];
    long at = at(frame, slot, row, i, element.type());
    if (element.float64()) {
      Memory.read(base, at, (double[]) into, n);
    } else {
      Memory.read(element.type(), base, at, (float[]) into, frame.strips.patterns, n);
    }
  }

  /**
   * Reads n numbers of columns, which are always in an array.
   *
   * @param into double[], or float[] for float32
   */
  public static void column(Frame frame, Tensor column, int i, Object into, int n) {
    Object numbers = frame.base[column.slot()];
    int from = column(frame, column) + i;
    if (numbers instanceof float[] floats && into instanceof double[] doubles) {
      for (int k = 0; k < n; k++) {
        doubles[k] = floats[from + k];
      }
    } else if (numbers instanceof double[] doubles && into instanceof float[] floats) {
      for (int k = 0; k < n; k++) {
        floats[k] = (float) doubles[from + k];
      }
    } else {
      System.arraycopy(numbers, from, into, 0, n);
    }
  }

  /** The first column of the frame. */
  public static int column(Frame frame, Tensor columns) {
    int slot = columns.slot();
    int bytes = frame.base[slot] instanceof double[] ? Double.BYTES : Float.BYTES;
    return (int) (frame.offset[slot] / bytes);
  }

  /**
   * Writes n elements of a row.
   *
   * @param from double[] or float[]; a float64 is rounded to float32 if the rows are not float64
   */
  public static void store(Frame frame, Stage.Store store, int row, int i, Object from, int n) {
    int slot = store.rows().slot();
    Object base = frame.base[slot];
    long at = at(frame, slot, row, i, store.type());
    if (store.type() == ElementType.FLOAT64) {
      Memory.write(base, at, (double[]) from, n);
      return;
    }
    Strips strips = frame.strips;
    if (from instanceof double[] doubles) {
      Strips.round(doubles, strips.rounded, n);
    }
    float[] floats = from instanceof float[] f ? f : strips.rounded;
    Memory.write(store.type(), base, at, floats, strips.patterns, n);
  }

  /**
   * Adds n terms to sums of columns.
   *
   * @param terms double[], or float[] for float32
   */
  public static void addTo(Frame frame, Tensor column, int i, Object terms, int n) {
    Object sums = frame.base[column.slot()];
    int from = column(frame, column) + i;
    if (sums instanceof double[] doubles) {
      Strips.addTo(doubles, from, (double[]) terms, n);
    } else if (terms instanceof double[] widened) {
      Strips.addTo((float[]) sums, from, widened, n);
    } else {
      Strips.addTo((float[]) sums, from, (float[]) terms, n);
    }
  }
}
