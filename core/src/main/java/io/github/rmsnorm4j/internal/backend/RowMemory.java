package io.github.rmsnorm4j.internal.backend;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one operand of a call, checked by the API.
 *
 * @param segment holds every row, from its first byte on
 * @param stride bytes from one row to the next; 0 where it is the same row
 * @param period rows that are one after the other at the stride, if they are groups of wider rows
 *     that are apart, or a row of a sample; 0 where all rows are
 * @param outerStride bytes from the first of such rows to the first of the next ones; 0 where they
 *     are the same rows again
 * @param access how kernels reach the rows
 * @param kind a positive number, the same for all rows of one type and access that have a period,
 *     and for all others
 * @param window the rows that the memory has room for, one after the other; null if it has all
 */
public record RowMemory(
    MemorySegment segment,
    ElementType type,
    long stride,
    long period,
    long outerStride,
    Access access,
    int kind,
    @Nullable RowWindow window) {
  /** How kernels reach rows. */
  public enum Access {
    /** At an address. */
    NATIVE,
    /** In an array of the type of the rows. */
    ARRAY,
    /** In an array of another type, or not where an array of the type would have elements. */
    OTHER_ARRAY,
    /** Not at all: they are copied, piece by piece, by calls that check every access. */
    CHECKED;

    static Access of(boolean isNative, boolean addressable) {
      if (isNative) {
        return addressable ? NATIVE : CHECKED;
      }
      return addressable ? ARRAY : OTHER_ARRAY;
    }
  }

  /** A constant: each call of {@code values} makes an array. */
  private static final int ACCESSES = Access.values().length;

  /** Never started; it stands for any thread other than the caller's. */
  private static final Thread ANOTHER_THREAD = anotherThread();

  /** It inherits nothing, so that it keeps no class loader alive. */
  private static Thread anotherThread() {
    Thread thread = new Thread(null, () -> {}, "rmsnorm4j-another", 0, false);
    thread.setContextClassLoader(null);
    return thread;
  }

  /**
   * Rows, which may be groups of wider rows, or serve several rows of the call.
   *
   * @param addressable whether kernels may address the rows, or the rows are in an array of their
   *     type
   */
  public RowMemory(
      MemorySegment segment,
      ElementType type,
      long stride,
      long period,
      long outerStride,
      boolean addressable) {
    this(
        segment,
        type,
        stride,
        period,
        outerStride,
        Access.of(segment.isNative(), addressable),
        null);
  }

  /** Memory that has room for a few rows of a call at a time. */
  public RowMemory(
      MemorySegment segment, ElementType type, long stride, @Nullable RowWindow window) {
    this(segment, type, stride, 0, 0, window);
  }

  /** The same of rows that serve several rows of the call; the window begins with a period. */
  public RowMemory(
      MemorySegment segment,
      ElementType type,
      long stride,
      long period,
      long outerStride,
      @Nullable RowWindow window) {
    this(segment, type, stride, period, outerStride, Access.of(segment.isNative(), true), window);
  }

  private RowMemory(
      MemorySegment segment,
      ElementType type,
      long stride,
      long period,
      long outerStride,
      Access access,
      @Nullable RowWindow window) {
    this(
        segment,
        type,
        stride,
        period,
        outerStride,
        access,
        1 + 2 * (type.ordinal() * ACCESSES + access.ordinal()) + (period > 0 ? 1 : 0),
        window);
  }

  /** Bytes from the first row to another. */
  public long offset(long row) {
    long r = window == null ? row : row - window.first;
    return period == 0 ? r * stride : r / period * outerStride + r % period * stride;
  }

  /** Whether each row, or all rows of a period, serve several rows of the call. */
  public boolean isRepeated() {
    return period > 0 && (outerStride == 0 || stride == 0);
  }

  /** Whether kernels may address the rows, or the rows are in an array of their type. */
  public boolean isAddressable() {
    return access == Access.NATIVE || access == Access.ARRAY;
  }

  /** Whether kernels that know these types access the rows in place. */
  public boolean isDirect(Storage storage) {
    return isAddressable() && storage.of(type) == type;
  }

  /** The memory in which such kernels find the rows. */
  public Memory memory(Storage storage) {
    return isDirect(storage) && access == Access.NATIVE ? Memory.NATIVE : Memory.HEAP;
  }

  /** Whether any thread may access the memory through its segment. */
  public boolean isOfAnyThread() {
    return isOfAnyThread(segment);
  }

  /** Whether any thread may access memory. */
  public static boolean isOfAnyThread(MemorySegment segment) {
    return segment.isAccessibleBy(ANOTHER_THREAD);
  }

  /** The array with the rows; null for native memory, and where the array is read-only. */
  public @Nullable Object base() {
    return segment.heapBase().orElse(null);
  }

  /**
   * The segment from which elements are copied. Memory of one thread is copied by its address, so
   * that other threads may help; the thread is in the call meanwhile and cannot free it. Other
   * memory could be freed, so it is copied by calls that check it.
   */
  MemorySegment source() {
    return isOfOneThread() ? Memory.Native.EVERYTHING : segment;
  }

  private boolean isOfOneThread() {
    return access == Access.NATIVE && !isOfAnyThread();
  }

  /** The place of an element in {@link #source}. */
  long at(long row, long column) {
    long at = offset(row) + column * type.bytes();
    return isOfOneThread() ? segment.address() + at : at;
  }

  /** Copies a rectangle of rows to arrays of the compute type. */
  public void load(long row, long column, int rows, int columns, Staging staging) {
    ElementType stored = type == ElementType.FLOAT64 ? type : ElementType.FLOAT32;
    load(row, column, rows, columns, stored, staging);
  }

  /**
   * Copies a rectangle of rows to arrays, row after row.
   *
   * @param stored the type in the arrays: float32 for float16; float32 or bfloat16 for bfloat16
   */
  void load(long row, long column, int rows, int columns, ElementType stored, Staging staging) {
    int n = rows * columns;
    switch (type) {
      case FLOAT64 -> copy(JAVA_DOUBLE_UNALIGNED, row, column, rows, columns, staging.doubles(n));
      case FLOAT32 -> copy(JAVA_FLOAT_UNALIGNED, row, column, rows, columns, staging.floats(n));
      case FLOAT16, BFLOAT16 -> {
        short[] patterns = staging.shorts(n);
        copy(JAVA_SHORT_UNALIGNED, row, column, rows, columns, patterns);
        if (stored == ElementType.FLOAT32) {
          staging.narrow().decode(type, patterns, staging.floats(n), n);
        }
      }
    }
  }

  private void copy(
      ValueLayout layout, long row, long column, int rows, int columns, Object array) {
    if (stride == columns * layout.byteSize()) {
      MemorySegment.copy(source(), layout, at(row, column), array, 0, rows * columns);
      return;
    }
    for (int r = 0; r < rows; r++) {
      MemorySegment.copy(source(), layout, at(row + r, column), array, r * columns, columns);
    }
  }
}
