package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.internal.device.RowSpan;
import java.util.Objects;

/**
 * A view of memory of a device as rows: {@code rows} x {@code width} elements of one type, each row
 * contiguous, with {@code rowStride} elements from the start of a row to the start of the next. It
 * is to {@link CudaMemory} what {@link Rows} is to memory of the host.
 *
 * <p>Nothing is copied. The bounds are checked here, once. The first element must be aligned to the
 * size of an element, as a device cannot read others; {@link Rows} need not be. Rows at multiples
 * of 16 bytes are the fastest. The view is immutable. As many threads may use it as may use the
 * memory.
 *
 * <p>With a row stride greater than the width, the elements between rows are neither read nor
 * written. The number of rows may be 0; a row has at least one element.
 */
public final class CudaRows {
  private final CudaMemory memory;
  private final ElementType type;
  private final long rows;
  private final int width;
  private final long rowStride;

  private CudaRows(CudaMemory memory, ElementType type, long rows, int width, long rowStride) {
    Objects.requireNonNull(memory, "memory is null");
    Objects.requireNonNull(type, "type is null");
    long bytes = RowSpan.check(rows, width, rowStride, type, memory.byteSize());
    this.memory = memory.asSlice(0, bytes);
    if (this.memory.address() % type.bytes() != 0) {
      throw new IllegalArgumentException(
          "the rows begin at address 0x%x, %s elements must begin at a multiple of %s"
              .formatted(memory.address(), type, type.bytes()));
    }
    this.type = type;
    this.rows = rows;
    this.width = width;
    this.rowStride = rowStride;
  }

  /**
   * {@return a view of the beginning of memory as rows without gaps}
   *
   * @param memory from the first row's first element on; {@link CudaMemory#asSlice} gives memory
   *     from an offset on
   * @param type how an element is stored
   * @param rows number of rows
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1, rows below 0, or the memory not
   *     aligned to the size of an element
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   */
  public static CudaRows of(CudaMemory memory, ElementType type, long rows, int width) {
    return new CudaRows(memory, type, rows, width, width);
  }

  /**
   * {@return a view of the beginning of memory as rows at a stride}
   *
   * @param memory from the first row's first element on
   * @param type how an element is stored
   * @param rows number of rows
   * @param width elements per row
   * @param rowStride elements from the start of a row to the start of the next, at least the width
   * @throws IllegalArgumentException if the width is below 1, rows below 0, the stride below the
   *     width, or the memory not aligned to the size of an element
   * @throws IndexOutOfBoundsException if the rows reach past the memory
   * @see #of(CudaMemory, ElementType, long, int)
   */
  public static CudaRows of(
      CudaMemory memory, ElementType type, long rows, int width, long rowStride) {
    return new CudaRows(memory, type, rows, width, rowStride);
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
  public CudaMemory memory() {
    return memory;
  }

  /** For checks: the shape and the addresses, which must be neither read nor written. */
  Rows forChecks() {
    return Rows.of(memory.addresses(), type, rows, width, rowStride);
  }

  /** For kernels, after all checks. */
  DeviceRows onDevice() {
    return new DeviceRows(memory.address(), type, rows, width, rowStride);
  }

  /** For example {@code 128 x 4096 float32}. */
  @Override
  public String toString() {
    String shape = rows + " x " + width + " " + type;
    return rowStride == width ? shape : shape + " at a stride of " + rowStride;
  }
}
