package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.ElementType;

/** Copies strips of elements between the rows and columns of a frame and arrays. */
public final class StripAccess {
  private StripAccess() {}

  private static long at(Frame frame, int slot, int row, int i, int bytes) {
    return frame.offset[slot] + row * frame.stride[slot] + (long) i * bytes;
  }

  /** Reads n elements of a row of float64. */
  public static void load(Frame frame, int slot, int row, int i, double[] into, int n) {
    Memory.read(frame.base[slot], at(frame, slot, row, i, Double.BYTES), into, n);
  }

  /** Reads n elements of a row as float32. */
  public static void load(
      Frame frame, int slot, ElementType type, int row, int i, float[] into, int n) {
    long at = at(frame, slot, row, i, type.bytes());
    Memory.read(type, frame.base[slot], at, into, frame.strips, n);
  }

  /**
   * Reads n numbers of columns, which are always in an array.
   *
   * @param into double[], or float[] for float32
   */
  public static void column(Frame frame, int slot, int i, Object into, int n) {
    Object numbers = frame.base[slot];
    int from = column(frame, slot) + i;
    if (numbers instanceof float[] floats && into instanceof double[] doubles) {
      for (int k = 0; k < n; k++) {
        doubles[k] = floats[from + k];
      }
    } else if (numbers instanceof double[] doubles && into instanceof float[] floats) {
      for (int k = 0; k < n; k++) {
        floats[k] = (float) doubles[from + k];
      }
    } else if (numbers instanceof double[] doubles) {
      System.arraycopy(doubles, from, (double[]) into, 0, n);
    } else {
      System.arraycopy((float[]) numbers, from, (float[]) into, 0, n);
    }
  }

  /** The first column of the frame. */
  static int column(Frame frame, int slot) {
    int bytes = frame.base[slot] instanceof double[] ? Double.BYTES : Float.BYTES;
    return (int) (frame.offset[slot] / bytes);
  }

  /**
   * Writes n elements of a row.
   *
   * @param from double[] or float[]; a float64 is rounded to float32 if the rows are not float64
   */
  public static void store(
      Frame frame, int slot, ElementType type, int row, int i, Object from, int n) {
    Object base = frame.base[slot];
    long at = at(frame, slot, row, i, type.bytes());
    if (type == ElementType.FLOAT64) {
      Memory.write(base, at, (double[]) from, n);
      return;
    }
    Strips strips = frame.strips;
    if (from instanceof double[] doubles) {
      Strips.round(doubles, strips.rounded, n);
    }
    float[] floats = from instanceof float[] f ? f : strips.rounded;
    Memory.write(type, base, at, floats, strips, n);
  }

  /** Writes n numbers of columns, which are always in an array, rounded to its type. */
  public static void setColumn(Frame frame, int slot, int i, double[] from, int n) {
    Object numbers = frame.base[slot];
    int at = column(frame, slot) + i;
    if (numbers instanceof float[] floats) {
      for (int k = 0; k < n; k++) {
        floats[at + k] = (float) from[k];
      }
    } else {
      System.arraycopy(from, 0, (double[]) numbers, at, n);
    }
  }

  /**
   * Adds n terms to sums of columns.
   *
   * @param terms double[] or float[], as the sums are
   */
  static void addTo(Frame frame, int slot, int i, Object terms, int n) {
    Object sums = frame.base[slot];
    int from = column(frame, slot) + i;
    if (sums instanceof double[] doubles) {
      Strips.addTo(doubles, from, (double[]) terms, n);
    } else {
      Strips.addTo((float[]) sums, from, (float[]) terms, n);
    }
  }
}
