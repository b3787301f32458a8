package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.device.RowSpan;
import java.lang.foreign.MemorySegment;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.ShortBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A view of memory as rows: {@code rows} x {@code width} elements of one type, each row contiguous,
 * with {@code rowStride} elements from the start of a row to the start of the next.
 *
 * <p>Nothing is copied: a write to the memory shows in the view, and the other way round. Elements
 * are in the native byte order of the machine and need not be aligned. The bounds are checked here,
 * once. The view is immutable. As many threads may use it as may use the memory.
 *
 * <p>With a row stride greater than the width, the elements between rows are neither read nor
 * written. For example, the queries of a fused query/key/value projection with one head are rows of
 * width d at a stride of 3 d. With more heads, rows of width d would be the first head of each
 * token alone: take rows of width {@code heads * d}, and a norm with {@link
 * NormBuilder#groupSize(int) groupSize(d)} if each head is normalised. The number of rows may be 0;
 * a row has at least one element. The view may be larger than 2^31 bytes.
 *
 * <p>A direct {@link FloatBuffer}, {@link DoubleBuffer} or {@link ShortBuffer} does not tell
 * whether it is a view of a mapped file. So its rows are copied through a small buffer. Its {@link
 * ByteBuffer}, or a segment of native memory, is faster.
 */
public final class Rows {
  private final MemorySegment segment;
  private final ElementType type;
  private final long rows;
  private final int width;
  private final long rowStride;
  private final boolean maybeMapped;

  /** Kept from the last call for the next one. A race between threads only makes it twice. */
  private @Nullable RowMemory memory;

  private Rows(MemorySegment memory, ElementType type, long rows, int width, long rowStride) {
    this(
        memory,
        type,
        rows,
        width,
        rowStride,
        NormArguments.requireNonNull(memory, "segment").isMapped());
  }

  private Rows(
      MemorySegment memory,
      ElementType type,
      long rows,
      int width,
      long rowStride,
      boolean maybeMapped) {
    requireType(type);
    long bytes = RowSpan.check(rows, width, rowStride, type, memory.byteSize());
    this.segment = memory.asSlice(0, bytes);
    this.type = type;
    this.rows = rows;
    this.width = width;
    this.rowStride = rowStride;
    this.maybeMapped = maybeMapped;
  }

  /**
   * {@return a view of a whole float32 array as rows without gaps}
   *
   * @param array the elements; its length is a multiple of the width
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1 or does not divide the length
   */
  public static Rows of(float[] array, int width) {
    MemorySegment segment = MemorySegment.ofArray(NormArguments.requireNonNull(array, "array"));
    return new Rows(segment, ElementType.FLOAT32, whole(array.length, width), width, width);
  }

  /**
   * {@return a view of part of a float32 array as rows without gaps}
   *
   * @param array the elements
   * @param offset index of the first row's first element
   * @param rows number of rows
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1 or rows or offset below 0
   * @throws IndexOutOfBoundsException if the rows reach past the array
   */
  public static Rows of(float[] array, int offset, int rows, int width) {
    return of(array, offset, rows, width, width);
  }

  /**
   * {@return a view of part of a float32 array as rows at a stride}
   *
   * @param array the elements
   * @param offset index of the first row's first element
   * @param rows number of rows
   * @param width elements per row
   * @param rowStride elements from the start of a row to the start of the next, at least the width
   * @throws IllegalArgumentException if the width is below 1, rows or offset below 0, or the stride
   *     below the width
   * @throws IndexOutOfBoundsException if the rows reach past the array
   */
  public static Rows of(float[] array, int offset, int rows, int width, long rowStride) {
    MemorySegment segment = MemorySegment.ofArray(NormArguments.requireNonNull(array, "array"));
    return new Rows(
        from(segment, offset, Float.BYTES), ElementType.FLOAT32, rows, width, rowStride);
  }

  /**
   * {@return a view of a whole float64 array as rows without gaps}
   *
   * @param array the elements; its length is a multiple of the width
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1 or does not divide the length
   */
  public static Rows of(double[] array, int width) {
    MemorySegment segment = MemorySegment.ofArray(NormArguments.requireNonNull(array, "array"));
    return new Rows(segment, ElementType.FLOAT64, whole(array.length, width), width, width);
  }

  /**
   * {@return a view of part of a float64 array as rows without gaps}
   *
   * @param array the elements
   * @param offset index of the first row's first element
   * @param rows number of rows
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1 or rows or offset below 0
   * @throws IndexOutOfBoundsException if the rows reach past the array
   */
  public static Rows of(double[] array, int offset, int rows, int width) {
    return of(array, offset, rows, width, width);
  }

  /**
   * {@return a view of part of a float64 array as rows at a stride}
   *
   * @param array the elements
   * @param offset index of the first row's first element
   * @param rows number of rows
   * @param width elements per row
   * @param rowStride elements from the start of a row to the start of the next, at least the width
   * @throws IllegalArgumentException if the width is below 1, rows or offset below 0, or the stride
   *     below the width
   * @throws IndexOutOfBoundsException if the rows reach past the array
   */
  public static Rows of(double[] array, int offset, int rows, int width, long rowStride) {
    MemorySegment segment = MemorySegment.ofArray(NormArguments.requireNonNull(array, "array"));
    return new Rows(
        from(segment, offset, Double.BYTES), ElementType.FLOAT64, rows, width, rowStride);
  }

  /**
   * {@return a view of a whole array of 16-bit patterns as rows without gaps}
   *
   * @param array the elements' bit patterns; the length is a multiple of the width
   * @param type {@link ElementType#FLOAT16} or {@link ElementType#BFLOAT16}
   * @param width elements per row
   * @throws IllegalArgumentException if the type is not of 16 bits, or the width is below 1 or does
   *     not divide the length
   */
  public static Rows of(short[] array, ElementType type, int width) {
    MemorySegment segment = MemorySegment.ofArray(NormArguments.requireNonNull(array, "array"));
    return new Rows(segment, narrow(type), whole(array.length, width), width, width);
  }

  /**
   * {@return a view of part of an array of 16-bit patterns as rows without gaps}
   *
   * @param array the elements' bit patterns
   * @param type {@link ElementType#FLOAT16} or {@link ElementType#BFLOAT16}
   * @param offset index of the first row's first element
   * @param rows number of rows
   * @param width elements per row
   * @throws IllegalArgumentException if the type is not of 16 bits, the width is below 1, or rows
   *     below 0
   * @throws IndexOutOfBoundsException if the rows reach past the array
   */
  public static Rows of(short[] array, ElementType type, int offset, int rows, int width) {
    return of(array, type, offset, rows, width, width);
  }

  /**
   * {@return a view of part of an array of 16-bit patterns as rows at a stride}
   *
   * @param array the elements' bit patterns
   * @param type {@link ElementType#FLOAT16} or {@link ElementType#BFLOAT16}
   * @param offset index of the first row's first element
   * @param rows number of rows
   * @param width elements per row
   * @param rowStride elements from the start of a row to the start of the next, at least the width
   * @throws IllegalArgumentException if the type is not of 16 bits, the width is below 1, rows or
   *     offset below 0, or the stride below the width
   * @throws IndexOutOfBoundsException if the rows reach past the array
   */
  public static Rows of(
      short[] array, ElementType type, int offset, int rows, int width, long rowStride) {
    MemorySegment segment = MemorySegment.ofArray(NormArguments.requireNonNull(array, "array"));
    return new Rows(from(segment, offset, Short.BYTES), narrow(type), rows, width, rowStride);
  }

  /**
   * {@return a view of the beginning of a segment, native, mapped or heap memory, as rows without
   * gaps}
   *
   * <p>Kernels address native memory directly, so a shared arena must not be closed, by any thread,
   * while a norm is at work on it: that cannot be made safe at this speed, and ends the JVM. {@link
   * NormBuilder#safe()} makes it an exception. Mapped files are always treated that way: if
   * somebody makes the file shorter while a norm is at work on rows behind its new end, the call
   * throws an {@link InternalError}, as the JVM does for every access there, and the JVM keeps
   * running. What was written before stays, so some rows of the output may be new and others old.
   *
   * <p>A segment says how much memory it has. If the caller made it with {@link
   * MemorySegment#reinterpret(long)} larger than its memory, or so that it outlives its memory, a
   * call can end the JVM or overwrite other data; {@code safe()} does not help. Nor is a mapped
   * file behind such a segment recognised as one, or behind a segment that {@link
   * MemorySegment#ofBuffer} made of a view such as {@code mapped.asFloatBuffer()}.
   *
   * @param segment the memory, from the first row's first element on
   * @param type how an element is stored
   * @param rows number of rows
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1 or rows below 0
   * @throws IndexOutOfBoundsException if the rows reach past the segment
   */
  public static Rows of(MemorySegment segment, ElementType type, long rows, int width) {
    return new Rows(segment, type, rows, width, width);
  }

  /**
   * {@return a view of the beginning of a segment as rows at a stride}
   *
   * @param segment the memory, from the first row's first element on
   * @param type how an element is stored
   * @param rows number of rows
   * @param width elements per row
   * @param rowStride elements from the start of a row to the start of the next, at least the width
   * @throws IllegalArgumentException if the width is below 1, rows below 0, or the stride below the
   *     width
   * @throws IndexOutOfBoundsException if the rows reach past the segment
   * @see #of(MemorySegment, ElementType, long, int)
   */
  public static Rows of(
      MemorySegment segment, ElementType type, long rows, int width, long rowStride) {
    return new Rows(segment, type, rows, width, rowStride);
  }

  /**
   * {@return a view of the remaining elements of a float32 buffer, direct or not, as rows without
   * gaps}
   *
   * @param buffer the elements from position to limit, a multiple of the width, in native byte
   *     order
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1 or does not divide the number of
   *     remaining elements, or the byte order is not native
   */
  public static Rows of(FloatBuffer buffer, int width) {
    ByteOrder order = NormArguments.requireNonNull(buffer, "buffer").order();
    return of(buffer, order, ElementType.FLOAT32, buffer.remaining(), width);
  }

  /**
   * {@return a view of the remaining elements of a float64 buffer, direct or not, as rows without
   * gaps}
   *
   * @param buffer the elements from position to limit, a multiple of the width, in native byte
   *     order
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1 or does not divide the number of
   *     remaining elements, or the byte order is not native
   */
  public static Rows of(DoubleBuffer buffer, int width) {
    ByteOrder order = NormArguments.requireNonNull(buffer, "buffer").order();
    return of(buffer, order, ElementType.FLOAT64, buffer.remaining(), width);
  }

  /**
   * {@return a view of the remaining bit patterns of a buffer of 16-bit numbers, direct or not, as
   * rows without gaps}
   *
   * @param buffer the patterns from position to limit, a multiple of the width, in native byte
   *     order
   * @param type {@link ElementType#FLOAT16} or {@link ElementType#BFLOAT16}
   * @param width elements per row
   * @throws IllegalArgumentException if the type is not of 16 bits, the width is below 1 or does
   *     not divide the number of remaining elements, or the byte order is not native
   */
  public static Rows of(ShortBuffer buffer, ElementType type, int width) {
    ByteOrder order = NormArguments.requireNonNull(buffer, "buffer").order();
    return of(buffer, order, narrow(type), buffer.remaining(), width);
  }

  /**
   * {@return a view of the remaining bytes of a buffer, direct or not, as rows without gaps} The
   * elements are read in the native byte order of the machine. The order of the buffer, which is
   * for its own getters, has no effect.
   *
   * @param buffer the bytes from position to limit, whole rows
   * @param type how an element is stored
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1, or the remaining bytes are not whole
   *     rows
   */
  public static Rows of(ByteBuffer buffer, ElementType type, int width) {
    int remaining = NormArguments.requireNonNull(buffer, "buffer").remaining();
    if (remaining % requireType(type).bytes() != 0) {
      throw new IllegalArgumentException(
          "buffer has " + remaining + " bytes left, not a whole number of " + type + " elements");
    }
    return of(buffer, ByteOrder.nativeOrder(), type, remaining / type.bytes(), width);
  }

  private static Rows of(
      Buffer buffer, ByteOrder order, ElementType type, int elements, int width) {
    if (order != ByteOrder.nativeOrder()) {
      throw new IllegalArgumentException(
          "buffer is " + order + ", it must be in native order, " + ByteOrder.nativeOrder());
    }
    // A FloatBuffer or DoubleBuffer does not tell whether it is a view of a mapped file.
    boolean maybeMapped = buffer.isDirect() && !(buffer instanceof ByteBuffer);
    MemorySegment segment = MemorySegment.ofBuffer(buffer);
    return new Rows(
        segment, type, whole(elements, width), width, width, maybeMapped || segment.isMapped());
  }

  private static ElementType requireType(@Nullable ElementType type) {
    return NormArguments.requireNonNull(type, "type");
  }

  private static long whole(int elements, int width) {
    RowSpan.requireShape(0, width);
    if (elements % width != 0) {
      throw new IllegalArgumentException(
          elements + " elements are not a whole number of rows of width " + width);
    }
    return elements / width;
  }

  private static MemorySegment from(MemorySegment array, int offset, int bytes) {
    long length = array.byteSize() / bytes;
    if (offset < 0 || offset > length) {
      throw new IndexOutOfBoundsException(
          "offset is " + offset + ", it may be 0 to the array's length, " + length);
    }
    return array.asSlice((long) offset * bytes);
  }

  private static ElementType narrow(ElementType type) {
    if (requireType(type).bytes() != Short.BYTES) {
      throw new IllegalArgumentException(
          "type is "
              + type
              + ", shorts hold "
              + ElementType.FLOAT16
              + " or "
              + ElementType.BFLOAT16);
    }
    return type;
  }

  /** Some rows from one of them on. */
  Rows range(long first, long n) {
    MemorySegment of = segment.asSlice(first * rowStride * type.bytes());
    return new Rows(of, type, n, width, rowStride, maybeMapped);
  }

  /** For kernels, with strides in bytes. */
  RowMemory memory(long stride, long period, long outerStride, boolean addressable) {
    RowMemory last = memory;
    if (last == null
        || last.isAddressable() != addressable
        || last.stride() != stride
        || last.period() != period) {
      last = new RowMemory(segment, type, stride, period, outerStride, addressable);
      memory = last;
    }
    return last;
  }

  /** Whether the memory may be a mapped file, which kernels must not address. */
  boolean maybeMapped() {
    return maybeMapped;
  }

  /** {@return the type of every element: how it is stored} */
  public ElementType type() {
    return type;
  }

  /** {@return the number of rows, 0 or more} */
  public long rows() {
    return rows;
  }

  /** {@return the length of a row in elements, 1 or more} */
  public int width() {
    return width;
  }

  /** {@return the distance between rows: elements from the start of one to that of the next} */
  public long rowStride() {
    return rowStride;
  }

  /** {@return the memory, from the first element of the first row to the end of the last row} */
  public MemorySegment segment() {
    return segment;
  }

  /** For example {@code 128 x 4096 float32}. */
  @Override
  public String toString() {
    String shape = rows + " x " + width + " " + type;
    return rowStride == width ? shape : shape + " at a stride of " + rowStride;
  }
}
