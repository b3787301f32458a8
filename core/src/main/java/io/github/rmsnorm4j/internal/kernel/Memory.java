package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.codec.NarrowArrays;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Where the rows that a kernel reads or writes lie: bytes from the start of an array, or at an
 * absolute address.
 *
 * <p>Kernels make no segments. A slice costs nothing only if the JIT inlines its creation, which it
 * does not always do. Then the JIT does not know the class of the segment, and the loop becomes
 * several times slower once the process has used another kind of segment.
 */
public enum Memory {
  /** Native memory, at an absolute address. */
  NATIVE,
  /** An array of the type of the rows: float[], double[], or short[] for 16-bit types. */
  HEAP;

  /**
   * All of native memory lies below 2^62. One {@code &} tells the JIT so. Then it drops the range
   * check of every access; otherwise it would have to split the loop to move the check out.
   */
  public static final long ADDRESSES = (1L << 62) - 1;

  /** A class of its own, so that it is initialised only if native access is enabled. */
  @SuppressWarnings("restricted")
  public static final class Native {
    /** All of native memory, a constant whose class the JIT knows. */
    public static final MemorySegment EVERYTHING = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private Native() {}
  }

  /** One element as float32, of rows that are not float64; base is null in native memory. */
  public static float getFloat(ElementType type, @Nullable Object base, long at) {
    if (type != ElementType.FLOAT32) {
      short pattern =
          base == null
              ? Native.EVERYTHING.get(ValueLayout.JAVA_SHORT_UNALIGNED, at & ADDRESSES)
              : ((short[]) base)[(int) (at >> 1)];
      return Narrow.toFloat(pattern, type);
    }
    return base == null
        ? Native.EVERYTHING.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at & ADDRESSES)
        : ((float[]) base)[(int) (at >> 2)];
  }

  /** One element of float64 rows. */
  public static double getDouble(@Nullable Object base, long at) {
    return base == null
        ? Native.EVERYTHING.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, at & ADDRESSES)
        : ((double[]) base)[(int) (at >> 3)];
  }

  /** Writes one element of rows that are not float64, rounded once. */
  public static void setFloat(ElementType type, @Nullable Object base, long at, float value) {
    if (type != ElementType.FLOAT32) {
      short pattern = Narrow.toPattern(value, type);
      if (base == null) {
        Native.EVERYTHING.set(ValueLayout.JAVA_SHORT_UNALIGNED, at & ADDRESSES, pattern);
      } else {
        ((short[]) base)[(int) (at >> 1)] = pattern;
      }
    } else if (base == null) {
      Native.EVERYTHING.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at & ADDRESSES, value);
    } else {
      ((float[]) base)[(int) (at >> 2)] = value;
    }
  }

  /** Writes one element of float64 rows. */
  public static void setDouble(@Nullable Object base, long at, double value) {
    if (base == null) {
      Native.EVERYTHING.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, at & ADDRESSES, value);
    } else {
      ((double[]) base)[(int) (at >> 3)] = value;
    }
  }

  // The type of an array is told to the JIT: it copies arrays of unknown types much slower.

  /** Reads n elements as float32. */
  static void read(
      ElementType type, @Nullable Object base, long at, float[] into, Strips strips, int n) {
    if (type == ElementType.FLOAT32) {
      if (base == null) {
        MemorySegment.copy(
            Native.EVERYTHING, ValueLayout.JAVA_FLOAT_UNALIGNED, at & ADDRESSES, into, 0, n);
      } else {
        System.arraycopy((float[]) base, (int) (at >> 2), into, 0, n);
      }
      return;
    }
    NarrowArrays narrow = strips.narrow();
    if (base == null) {
      MemorySegment.copy(
          Native.EVERYTHING,
          ValueLayout.JAVA_SHORT_UNALIGNED,
          at & ADDRESSES,
          narrow.patterns,
          0,
          n);
    } else {
      System.arraycopy((short[]) base, (int) (at >> 1), narrow.patterns, 0, n);
    }
    narrow.decode(type, narrow.patterns, into, n);
  }

  /** Reads n elements of float64 rows. */
  static void read(@Nullable Object base, long at, double[] into, int n) {
    if (base == null) {
      MemorySegment.copy(
          Native.EVERYTHING, ValueLayout.JAVA_DOUBLE_UNALIGNED, at & ADDRESSES, into, 0, n);
    } else {
      System.arraycopy((double[]) base, (int) (at >> 3), into, 0, n);
    }
  }

  /** Writes n elements, rounded once if the rows have 16 bits; see {@link NarrowArrays}. */
  static void write(
      ElementType type, @Nullable Object base, long at, float[] from, Strips strips, int n) {
    if (type == ElementType.FLOAT32) {
      if (base == null) {
        MemorySegment.copy(
            from, 0, Native.EVERYTHING, ValueLayout.JAVA_FLOAT_UNALIGNED, at & ADDRESSES, n);
      } else {
        System.arraycopy(from, 0, (float[]) base, (int) (at >> 2), n);
      }
      return;
    }
    NarrowArrays narrow = strips.narrow();
    narrow.encode(type, from, narrow.patterns, n);
    if (base == null) {
      MemorySegment.copy(
          narrow.patterns,
          0,
          Native.EVERYTHING,
          ValueLayout.JAVA_SHORT_UNALIGNED,
          at & ADDRESSES,
          n);
    } else {
      System.arraycopy(narrow.patterns, 0, (short[]) base, (int) (at >> 1), n);
    }
  }

  /** Writes n elements of float64 rows. */
  static void write(@Nullable Object base, long at, double[] from, int n) {
    if (base == null) {
      MemorySegment.copy(
          from, 0, Native.EVERYTHING, ValueLayout.JAVA_DOUBLE_UNALIGNED, at & ADDRESSES, n);
    } else {
      System.arraycopy(from, 0, (double[]) base, (int) (at >> 3), n);
    }
  }
}
