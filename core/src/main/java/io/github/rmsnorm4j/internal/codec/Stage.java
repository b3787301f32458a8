package io.github.rmsnorm4j.internal.codec;

import io.github.rmsnorm4j.internal.kernel.Workspace;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The way between rows as they are stored and the arrays that staged kernels work on: the
 * workspace's floats, or its doubles in float64 arithmetic, rows packed one after the other.
 *
 * <p>Every access is checked by {@link MemorySegment#copy}, so that a closed segment or a truncated
 * mapping is an exception and not the end of the JVM.
 */
public final class Stage {
  private Stage() {}

  /**
   * Reads a rectangle of rows that begins {@code at} bytes into the segment.
   *
   * @param codec of the type of x, null where that is not of 16 bits
   */
  public static void load(
      RowMemory x, long at, int rows, int columns, NarrowCodec codec, Workspace work) {
    int n = rows * columns;
    switch (x.type()) {
      case FLOAT64 ->
          read(x, ValueLayout.JAVA_DOUBLE_UNALIGNED, at, rows, columns, work.doubles(n));
      case FLOAT32 -> read(x, ValueLayout.JAVA_FLOAT_UNALIGNED, at, rows, columns, work.floats(n));
      case FLOAT16, BFLOAT16 -> {
        short[] patterns = work.shorts(n);
        read(x, ValueLayout.JAVA_SHORT_UNALIGNED, at, rows, columns, patterns);
        codec.decode(patterns, work.floats(n), n);
      }
    }
  }

  /** Writes the workspace's floats, each rounded once to the type of y where that is narrower. */
  public static void storeFloats(
      RowMemory y, long at, int rows, int columns, NarrowCodec codec, Workspace work) {
    int n = rows * columns;
    float[] values = work.floats(n);
    switch (y.type()) {
      case FLOAT64 -> {
        double[] widened = work.doubles(n);
        for (int i = 0; i < n; i++) {
          widened[i] = values[i];
        }
        write(y, ValueLayout.JAVA_DOUBLE_UNALIGNED, at, rows, columns, widened);
      }
      case FLOAT32 -> write(y, ValueLayout.JAVA_FLOAT_UNALIGNED, at, rows, columns, values);
      case FLOAT16, BFLOAT16 -> {
        short[] patterns = work.shorts(n);
        codec.encode(values, patterns, n);
        write(y, ValueLayout.JAVA_SHORT_UNALIGNED, at, rows, columns, patterns);
      }
    }
  }

  /** Writes the workspace's doubles, each rounded once to the type of y. */
  public static void storeDoubles(
      RowMemory y, long at, int rows, int columns, NarrowCodec codec, Workspace work) {
    int n = rows * columns;
    double[] values = work.doubles(n);
    switch (y.type()) {
      case FLOAT64 -> write(y, ValueLayout.JAVA_DOUBLE_UNALIGNED, at, rows, columns, values);
      case FLOAT32 -> {
        float[] rounded = work.floats(n);
        for (int i = 0; i < n; i++) {
          rounded[i] = (float) values[i];
        }
        write(y, ValueLayout.JAVA_FLOAT_UNALIGNED, at, rows, columns, rounded);
      }
      case FLOAT16, BFLOAT16 -> {
        float[] rounded = work.floats(n);
        for (int i = 0; i < n; i++) {
          rounded[i] = Narrow.roundToOdd(values[i]);
        }
        storeFloats(y, at, rows, columns, codec, work);
      }
    }
  }

  private static void read(
      RowMemory x, ValueLayout layout, long at, int rows, int columns, Object array) {
    MemorySegment segment = x.segment();
    if (x.stride() == columns * layout.byteSize()) {
      MemorySegment.copy(segment, layout, at, array, 0, rows * columns);
      return;
    }
    for (int r = 0; r < rows; r++) {
      MemorySegment.copy(segment, layout, at + r * x.stride(), array, r * columns, columns);
    }
  }

  private static void write(
      RowMemory y, ValueLayout layout, long at, int rows, int columns, Object array) {
    MemorySegment segment = y.segment();
    if (y.stride() == columns * layout.byteSize()) {
      MemorySegment.copy(array, 0, segment, layout, at, rows * columns);
      return;
    }
    for (int r = 0; r < rows; r++) {
      MemorySegment.copy(array, r * columns, segment, layout, at + r * y.stride(), columns);
    }
  }
}
