package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.Arguments;
import io.github.rmsnorm4j.internal.formula.Tensor;

/**
 * Rows in the memory of a device, checked by the caller.
 *
 * @param address of the first element
 * @param width elements of a row
 * @param stride elements from a row to the next one
 */
record DeviceRows(long address, ElementType type, long rows, int width, long stride) {
  /** The rows as parameters of a kernel whose rows are their groups. */
  void set(Arguments arguments, Tensor tensor, int groups) {
    long group = (long) (width / groups) * type.bytes();
    boolean areApart = groups > 1 && stride != width;
    if (areApart) {
      arguments.rows(tensor, address, group, groups, stride * type.bytes());
    } else {
      arguments.rows(tensor, address, groups > 1 ? group : stride * type.bytes(), 0, 0);
    }
  }

  /** One group of each row. */
  DeviceRows group(int group, int groups) {
    int n = width / groups;
    return new DeviceRows(address + (long) group * n * type.bytes(), type, rows, n, stride);
  }

  /** The rows of one sample. */
  DeviceRows sample(int sample, int samples) {
    long n = rows / samples;
    return new DeviceRows(address + sample * n * stride * type.bytes(), type, n, width, stride);
  }
}
