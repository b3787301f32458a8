package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.device.RowSpan;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import io.github.rmsnorm4j.internal.quantized.QuantizedChunks;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A view of memory as quantised rows: {@code rows} x {@code width} elements of one {@link
 * QuantizedType}. A norm writes them with {@link Norm#apply(Rows, Rows, QuantizedRows)}, a {@link
 * Quantizer} with {@link Quantizer#quantize}, and {@link #dequantize} reads them.
 *
 * <p>Each row of codes is contiguous, with {@code codeStride} bytes from the start of a row to the
 * start of the next. Types whose scales are in memory of their own have as many float32 scales for
 * each row, contiguous, with {@code scaleStride} scales from row to row. What is between rows is
 * neither read nor written. Neither codes nor scales need be aligned.
 *
 * <p>Making a view copies nothing. The bounds are checked here, once. The view is immutable. As
 * many threads may use it as may use the memory.
 *
 * <p>Codes may be in a mapped file. {@link MemorySegment#isMapped()} must say so: a segment of a
 * view such as {@code mapped.asFloatBuffer()} does not, and the JVM ends if that file is truncated
 * during a call. If another thread closes a shared arena during a call, either the call or {@link
 * java.lang.foreign.Arena#close} throws an exception; after the latter the arena is still open.
 */
public final class QuantizedRows {
  private final QuantizedType type;
  private final long rows;
  private final CodeMemory memory;

  private QuantizedRows(
      QuantizedType type,
      long rows,
      int width,
      MemorySegment codes,
      long codeStride,
      @Nullable MemorySegment scales,
      long scaleStride,
      float scale) {
    long rowBytes = requireShape(type, rows, width);
    this.type = type;
    this.rows = rows;
    int scalesOfRow = type.scales(width);
    requireScales(type, scales != null);
    if (type.format().given() != scale > 0) {
      throw new IllegalArgumentException(
          "type is "
              + type
              + (scale > 0 ? ", no scale is given for it" : ", one scale must be given for it"));
    }
    memory =
        new CodeMemory(
            type.format(),
            width,
            slice(codes, rows, rowBytes, codeStride, 1, "codes", "bytes"),
            codeStride,
            scales == null
                ? null
                : slice(scales, rows, scalesOfRow, scaleStride, Float.BYTES, "scales", "scales"),
            scaleStride * Float.BYTES,
            scale);
  }

  private static long requireShape(QuantizedType type, long rows, int width) {
    NormArguments.requireNonNull(type, "type");
    RowSpan.requireShape(rows, width);
    if (width % type.block(width) != 0) {
      throw new IllegalArgumentException(
          "width is " + width + ", for " + type + " it must be a multiple of " + type.block(width));
    }
    long rowBytes = type.rowBytes(width);
    if (rowBytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "width is " + width + ", a row of " + type + " may have 2^31 - 1 bytes at most");
    }
    return rowBytes;
  }

  private static void requireScales(QuantizedType type, boolean given) {
    boolean apart = type.scales(type.block(1)) > 0;
    if (apart != given) {
      String none = type.format().given() ? "one scale for all rows" : "its scales among the codes";
      throw new IllegalArgumentException(
          "type is "
              + type
              + ", it has "
              + (apart
                  ? "scales in memory of their own"
                  : none + ": it takes no memory of scales"));
    }
  }

  /** The memory from the first row to the end of the last one. */
  private static MemorySegment slice(
      MemorySegment memory, long rows, long ofRow, long stride, int bytes, String name, String of) {
    if (stride < ofRow) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "the stride of %s is %d, it must be at least the %d %s of a row",
              name,
              stride,
              ofRow,
              of));
    }
    if (stride > Long.MAX_VALUE / bytes) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "the stride of %s is %d, it must be at most %d",
              name,
              stride,
              Long.MAX_VALUE / bytes));
    }
    long needed = RowSpan.bytes(rows, ofRow, stride, bytes);
    if (needed < 0 || needed > memory.byteSize()) {
      throw new IndexOutOfBoundsException(
          String.format(
              Locale.ROOT,
              "%s of %d rows, %d %s each at a stride of %d, need %s bytes, there are %d",
              name,
              rows,
              ofRow,
              of,
              stride,
              needed < 0 ? "over 2^63" : needed,
              memory.byteSize()));
    }
    return memory.asSlice(0, needed);
  }

  /**
   * {@return a view of rows without gaps, of a type whose scales are among the codes}
   *
   * @param blocks holds the rows, from its first byte on
   * @param type {@link QuantizedType#Q8_0}, {@link QuantizedType#Q8_1} or {@link
   *     QuantizedType#Q8_K}
   * @param rows number of rows
   * @param width elements of a row, a multiple of the type's block
   * @throws IllegalArgumentException if the type has scales elsewhere, rows is below 0, or the
   *     width is no multiple of the block
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static QuantizedRows of(MemorySegment blocks, QuantizedType type, long rows, int width) {
    return of(blocks, rowBytes(type, width), type, rows, width);
  }

  /**
   * {@return a view of rows at a stride, of a type whose scales are among the codes}
   *
   * @param blocks holds the rows, from its first byte on
   * @param blockStride bytes from the start of a row to the start of the next
   * @param type {@link QuantizedType#Q8_0}, {@link QuantizedType#Q8_1} or {@link
   *     QuantizedType#Q8_K}
   * @param rows number of rows
   * @param width elements of a row, a multiple of the type's block
   * @throws IllegalArgumentException if the type has scales elsewhere, rows is below 0, the width
   *     is no multiple of the block, or the stride is below the bytes of a row
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static QuantizedRows of(
      MemorySegment blocks, long blockStride, QuantizedType type, long rows, int width) {
    NormArguments.requireNonNull(blocks, "blocks");
    return new QuantizedRows(type, rows, width, blocks, blockStride, null, 0, 0);
  }

  /**
   * {@return a view of a whole array as rows without gaps, of a type whose scales are among the
   * codes}
   *
   * @param blocks the rows; its length is a multiple of their bytes
   * @param type {@link QuantizedType#Q8_0}, {@link QuantizedType#Q8_1} or {@link
   *     QuantizedType#Q8_K}
   * @param width elements of a row, a multiple of the type's block
   * @throws IllegalArgumentException if the type has scales elsewhere, the width is no multiple of
   *     the block, or the array is not whole rows
   */
  public static QuantizedRows of(byte[] blocks, QuantizedType type, int width) {
    long rows = whole(NormArguments.requireNonNull(blocks, "blocks"), type, width, false);
    return of(MemorySegment.ofArray(blocks), type, rows, width);
  }

  /**
   * {@return a view of rows without gaps, of a type whose scales are in memory of their own}
   *
   * @param codes holds the codes, from its first byte on
   * @param scales holds the float32 scales, from its first byte on
   * @param type of int8 or FP8 codes
   * @param rows number of rows
   * @param width elements of a row, a multiple of the type's block
   * @throws IllegalArgumentException if the type has no scales elsewhere, rows is below 0, or the
   *     width is no multiple of the block
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static QuantizedRows of(
      MemorySegment codes, MemorySegment scales, QuantizedType type, long rows, int width) {
    long codeStride = rowBytes(type, width);
    return of(codes, codeStride, scales, type.scales(width), type, rows, width);
  }

  /**
   * {@return a view of rows at strides, of a type whose scales are in memory of their own}
   *
   * @param codes holds the codes, from its first byte on
   * @param codeStride bytes from the start of a row of codes to the start of the next
   * @param scales holds the float32 scales, from its first byte on
   * @param scaleStride scales from the first one of a row to the first one of the next
   * @param type of int8 or FP8 codes
   * @param rows number of rows
   * @param width elements of a row, a multiple of the type's block
   * @throws IllegalArgumentException if the type has no scales elsewhere, rows is below 0, the
   *     width is no multiple of the block, a stride is below what a row has, or that of scales is
   *     above {@code Long.MAX_VALUE / 4}
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static QuantizedRows of(
      MemorySegment codes,
      long codeStride,
      MemorySegment scales,
      long scaleStride,
      QuantizedType type,
      long rows,
      int width) {
    NormArguments.requireNonNull(codes, "codes");
    NormArguments.requireNonNull(scales, "scales");
    return new QuantizedRows(type, rows, width, codes, codeStride, scales, scaleStride, 0);
  }

  /**
   * {@return a view of whole arrays as rows without gaps, of a type whose scales are in memory of
   * their own}
   *
   * @param codes the codes; its length is a multiple of the width
   * @param scales at least as many as the rows have
   * @param type of int8 or FP8 codes
   * @param width elements of a row, a multiple of the type's block
   * @throws IllegalArgumentException if the type has no scales elsewhere, the width is no multiple
   *     of the block, or the codes are not whole rows
   * @throws IndexOutOfBoundsException if there are too few scales
   */
  public static QuantizedRows of(byte[] codes, float[] scales, QuantizedType type, int width) {
    long rows = whole(NormArguments.requireNonNull(codes, "codes"), type, width, true);
    MemorySegment ofScales = MemorySegment.ofArray(NormArguments.requireNonNull(scales, "scales"));
    return of(MemorySegment.ofArray(codes), ofScales, type, rows, width);
  }

  /**
   * {@return a view of rows without gaps, with one scale that is given for all}
   *
   * @param codes holds the codes, from its first byte on
   * @param scale a normal float32 number above 0
   * @param type {@link QuantizedType#e4m3Given} or {@link QuantizedType#e5m2Given}
   * @param rows number of rows
   * @param width elements of a row
   * @throws IllegalArgumentException if the type has other scales, the scale is not normal, rows is
   *     below 0 or the width below 1
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static QuantizedRows of(
      MemorySegment codes, float scale, QuantizedType type, long rows, int width) {
    return of(codes, rowBytes(type, width), scale, type, rows, width);
  }

  /**
   * {@return a view of rows at a stride, with one scale that is given for all}
   *
   * @param codes holds the codes, from its first byte on
   * @param codeStride bytes from the start of a row to the start of the next
   * @param scale a normal float32 number above 0
   * @param type {@link QuantizedType#e4m3Given} or {@link QuantizedType#e5m2Given}
   * @param rows number of rows
   * @param width elements of a row
   * @throws IllegalArgumentException if the type has other scales, the scale is not normal, rows is
   *     below 0, the width below 1, or the stride below the width
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static QuantizedRows of(
      MemorySegment codes, long codeStride, float scale, QuantizedType type, long rows, int width) {
    NormArguments.requireNonNull(codes, "codes");
    if (!(scale >= Float.MIN_NORMAL && scale <= Float.MAX_VALUE)) {
      throw new IllegalArgumentException(
          "scale is " + scale + ", it must be a normal float32 number above 0");
    }
    return new QuantizedRows(type, rows, width, codes, codeStride, null, 0, scale);
  }

  private static long rowBytes(QuantizedType type, int width) {
    return requireShape(type, 0, width);
  }

  private static long whole(byte[] array, QuantizedType type, int width, boolean scales) {
    long rowBytes = rowBytes(type, width);
    requireScales(type, scales);
    if (array.length % rowBytes != 0) {
      throw new IllegalArgumentException(
          array.length + " bytes are not a whole number of rows of " + rowBytes + " bytes");
    }
    return array.length / rowBytes;
  }

  /**
   * Writes the elements to rows: each is its code times the scale of its block, multiplied in
   * float32 and rounded once to the type of y. A scale that is NaN makes its block NaN. An infinite
   * one makes elements infinite, and NaN where the code is 0. One thread does it.
   *
   * @param y takes the elements: as many rows of the same width
   * @throws IllegalArgumentException if the shapes differ, y is read-only, or y overlaps the codes
   *     or the scales
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void dequantize(Rows y) {
    CallOperands.checkDequantized(this, y);
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(
            CallMemory.isOfAnyThread(y) && CallMemory.isOfAnyThread(this), () -> dequantize(y))) {
      return;
    }
    RowMemory into = y.memory(y.rowStride() * y.type().bytes(), 0, 0, false);
    try (QuantizedChunks chunks = QuantizedChunks.open(memory, Quantizer.DEFAULTS.rule(), 0)) {
      int n;
      for (long row = 0; row < rows; row += n) {
        n = (int) Math.min(chunks.rows(), rows - row);
        chunks.decode(row, n, into);
      }
    }
  }

  CodeMemory memory() {
    return memory;
  }

  /** {@return the type: how elements are stored} */
  public QuantizedType type() {
    return type;
  }

  /** {@return the number of rows, 0 or more} */
  public long rows() {
    return rows;
  }

  /** {@return the length of a row in elements, a multiple of the type's block} */
  public int width() {
    return memory.width();
  }

  /** {@return the memory of the codes, from the first byte of the first row to the last one} */
  public MemorySegment codes() {
    return memory.codes();
  }

  /** {@return the distance between rows of codes in bytes} */
  public long codeStride() {
    return memory.codeStride();
  }

  /** {@return the memory of the scales, or null if the type has no such memory} */
  public @Nullable MemorySegment scales() {
    return memory.scales();
  }

  /** {@return the distance between rows of scales in scales; 0 if the type has no such memory} */
  public long scaleStride() {
    return memory.scaleStride() / Float.BYTES;
  }

  /** {@return the scale that is given for all blocks; 0 if the type has others} */
  public float scale() {
    return memory.scale();
  }

  /** For example {@code 128 x 4096 q8_0}. */
  @Override
  public String toString() {
    String shape = rows + " x " + width() + " " + type;
    boolean isDense = codeStride() == type.rowBytes(width());
    return isDense ? shape : shape + " at a stride of " + codeStride();
  }
}
