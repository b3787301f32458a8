package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import java.util.Objects;

/**
 * A view of memory of a device as quantised rows: {@code rows} x {@code width} codes of 8 bits, and
 * their scales. It is to {@link CudaMemory} what {@link QuantizedRows} is to memory of the host,
 * and the bytes of codes and scales are the same. A norm on a device writes them with {@link
 * CudaNorm#apply(CudaRows, CudaRows, CudaQuantizedRows)}.
 *
 * <p>Types are int8 and FP8, with a scale for each block or row, or with one that is given. The
 * blocks of ggml ({@link QuantizedType#Q8_0}, {@link QuantizedType#Q8_1}, {@link
 * QuantizedType#Q8_K}) are refused.
 *
 * <p>Each row of codes is contiguous, with {@code codeStride} bytes from the start of a row to the
 * start of the next. The float32 scales of a row are contiguous, too, with {@code scaleStride}
 * scales from row to row. What is between rows is neither read nor written. Codes may begin
 * anywhere; scales must begin at a multiple of 4 bytes. Codes at multiples of 8 bytes are the
 * fastest.
 *
 * <p>Making a view copies nothing. The bounds are checked here, once. The view is immutable. As
 * many threads may use it as may use the memory.
 */
public final class CudaQuantizedRows {
  private final CudaMemory codes;

  /** Null where one scale is given. */
  private final CudaMemory scales;

  /** Stands for the rows in checks; its bytes must be neither read nor written. */
  private final QuantizedRows rows;

  private CudaQuantizedRows(CudaMemory codes, CudaMemory scales, QuantizedRows rows) {
    this.codes = codes.asSlice(0, rows.codes().byteSize());
    this.scales = scales == null ? null : scales.asSlice(0, rows.scales().byteSize());
    this.rows = rows;
    if (scales != null && scales.address() % Float.BYTES != 0) {
      throw new IllegalArgumentException(
          "the scales begin at address 0x%x, they must begin at a multiple of %s"
              .formatted(scales.address(), Float.BYTES));
    }
    if (scales != null && !codes.device().isSameAs(scales.device())) {
      throw new IllegalArgumentException(
          "scales is memory of " + scales.device() + ", codes is memory of " + codes.device());
    }
  }

  /** Only blocks of ggml have bytes besides their codes. */
  private static QuantizedType require(QuantizedType type) {
    Objects.requireNonNull(type, "type is null");
    int block = type.block(1);
    if (type.rowBytes(block) > block) {
      throw new IllegalArgumentException(
          "type is " + type + ", no kernel writes blocks of ggml: it must be int8 or FP8");
    }
    return type;
  }

  /**
   * {@return a view of rows without gaps, with scales of their own}
   *
   * @param codes holds the codes, from its first byte on
   * @param scales holds the float32 scales, from its first byte on; memory of the same device
   * @param type of int8 or FP8 codes
   * @param rows number of rows
   * @param width elements of a row, a multiple of the type's block
   * @throws NullPointerException if codes, scales or type is null
   * @throws IllegalArgumentException if the type is one of ggml or has a given scale, rows is below
   *     0, the width is no multiple of the block, the scales are not aligned, or codes and scales
   *     are of two devices
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static CudaQuantizedRows of(
      CudaMemory codes, CudaMemory scales, QuantizedType type, long rows, int width) {
    Objects.requireNonNull(codes, "codes is null");
    Objects.requireNonNull(scales, "scales is null");
    return new CudaQuantizedRows(
        codes,
        scales,
        QuantizedRows.of(codes.addresses(), scales.addresses(), require(type), rows, width));
  }

  /**
   * {@return a view of rows at strides, with scales of their own}
   *
   * @param codes holds the codes, from its first byte on
   * @param codeStride bytes from the start of a row of codes to the start of the next
   * @param scales holds the float32 scales, from its first byte on; memory of the same device
   * @param scaleStride scales from the first one of a row to the first one of the next
   * @param type of int8 or FP8 codes
   * @param rows number of rows
   * @param width elements of a row, a multiple of the type's block
   * @throws NullPointerException if codes, scales or type is null
   * @throws IllegalArgumentException as for {@link #of(CudaMemory, CudaMemory, QuantizedType, long,
   *     int)}, or if a stride is below what a row has or above what a long can hold in bytes
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static CudaQuantizedRows of(
      CudaMemory codes,
      long codeStride,
      CudaMemory scales,
      long scaleStride,
      QuantizedType type,
      long rows,
      int width) {
    Objects.requireNonNull(codes, "codes is null");
    Objects.requireNonNull(scales, "scales is null");
    return new CudaQuantizedRows(
        codes,
        scales,
        QuantizedRows.of(
            codes.addresses(),
            codeStride,
            scales.addresses(),
            scaleStride,
            require(type),
            rows,
            width));
  }

  /**
   * {@return a view of rows without gaps, with one scale that is given for all}
   *
   * @param codes holds the codes, from its first byte on
   * @param scale a normal float32 number above 0
   * @param type {@link QuantizedType#e4m3Given} or {@link QuantizedType#e5m2Given}
   * @param rows number of rows
   * @param width elements of a row
   * @throws NullPointerException if codes or type is null
   * @throws IllegalArgumentException if the type has other scales, the scale is not normal, rows is
   *     below 0 or the width below 1
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static CudaQuantizedRows of(
      CudaMemory codes, float scale, QuantizedType type, long rows, int width) {
    Objects.requireNonNull(codes, "codes is null");
    return new CudaQuantizedRows(
        codes, null, QuantizedRows.of(codes.addresses(), scale, require(type), rows, width));
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
   * @throws NullPointerException if codes or type is null
   * @throws IllegalArgumentException as for {@link #of(CudaMemory, float, QuantizedType, long,
   *     int)}, or if the stride is below the width
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static CudaQuantizedRows of(
      CudaMemory codes, long codeStride, float scale, QuantizedType type, long rows, int width) {
    Objects.requireNonNull(codes, "codes is null");
    return new CudaQuantizedRows(
        codes,
        null,
        QuantizedRows.of(codes.addresses(), codeStride, scale, require(type), rows, width));
  }

  /** {@return the type: how elements are stored} */
  public QuantizedType type() {
    return rows.type();
  }

  /** {@return the number of rows, 0 or more} */
  public long rows() {
    return rows.rows();
  }

  /** {@return the length of a row in elements, a multiple of the type's block} */
  public int width() {
    return rows.width();
  }

  /** {@return the memory of the codes, from the first byte of the first row to the last one} */
  public CudaMemory codes() {
    return codes;
  }

  /** {@return the distance between rows of codes in bytes} */
  public long codeStride() {
    return rows.codeStride();
  }

  /** {@return the memory of the scales, or null if one is given for all} */
  public CudaMemory scales() {
    return scales;
  }

  /** {@return the distance between rows of scales in scales; 0 if one is given for all} */
  public long scaleStride() {
    return rows.scaleStride();
  }

  /** {@return the scale that is given for all blocks; 0 if each has its own} */
  public float scale() {
    return rows.scale();
  }

  QuantizedRows forChecks() {
    return rows;
  }

  /** Refuses to be used when the device is closed, or an arena. */
  void requireAccess() {
    codes.address();
    if (scales != null) {
      scales.address();
    }
  }

  /** For example {@code 128 x 4096 int8:row}. */
  @Override
  public String toString() {
    return rows.toString();
  }
}
