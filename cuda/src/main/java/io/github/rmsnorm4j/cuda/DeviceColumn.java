package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.Arguments;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Map;

/**
 * A gain or a bias in the memory of a device, or the gradient of one.
 *
 * @param address of the first number
 * @param type the type in which the caller gave it, which a cast order may ask for
 * @param stored the type of the numbers in memory
 * @param length its numbers: those of a row, of a group that all groups share, or of the rows of
 *     all samples
 * @param step from the numbers of a group, or of a sample, to those of the next one
 * @param offset what is added to each number when it is read; 0 for nothing
 */
record DeviceColumn(
    long address, ElementType type, ElementType stored, int length, long step, double offset) {
  /**
   * Numbers of the compute type, without gaps, that are read as they are.
   *
   * @param width of a row, or of a group
   */
  static DeviceColumn of(
      long address, ElementType type, ElementType arithmetic, int length, int width) {
    return new DeviceColumn(address, type, arithmetic, length, width, 0);
  }

  /**
   * Numbers that the caller gave.
   *
   * @param rows checked: one row, or one for each sample
   * @param width of a row, or of a group
   */
  static DeviceColumn of(CudaRows rows, int width, double offset) {
    long step = rows.rows() > 1 ? rows.rowStride() : width;
    int length = Math.toIntExact(rows.rows() * rows.width());
    return new DeviceColumn(
        rows.memory().address(), rows.type(), rows.type(), length, step, offset);
  }

  /** The numbers of a column; 0 for null. */
  static int length(DeviceColumn column) {
    return column == null ? 0 : column.length;
  }

  /** The address of the numbers of a group, or of a sample. */
  long address(int part) {
    return address + part * stepBytes();
  }

  /** {@link #step} in bytes. */
  long stepBytes() {
    return step * stored.bytes();
  }

  /** Whether the offset of the gain is added in kernels; null has none. */
  static boolean addsOffset(DeviceColumn gain) {
    return gain != null && gain.offset != 0;
  }

  /** Notes the type of a column that is not of the compute type; nothing for null. */
  static void putType(
      Map<Tensor, ElementType> types, Tensor tensor, DeviceColumn column, ElementType arithmetic) {
    if (column != null && column.stored != arithmetic) {
      types.put(tensor, column.stored);
    }
  }

  /** Sets the offset where the kernel adds it. */
  static void setOffset(Arguments arguments, DeviceColumn gain) {
    if (addsOffset(gain)) {
      arguments.gainOffset(gain.offset);
    }
  }
}
