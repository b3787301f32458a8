package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;

/**
 * A gain or a bias in the memory of a device, in the compute type; a gain with its offset.
 *
 * @param address of the first number
 * @param type the type in which the caller gave it, which a cast order may ask for
 * @param length its numbers: those of a row, of a group that all groups share, or of the rows of
 *     all samples
 */
record DeviceColumn(long address, ElementType type, int length) {
  /** One of several parts of the same length, for a compute type. */
  DeviceColumn part(int part, int width, ElementType arithmetic) {
    return new DeviceColumn(address + (long) part * width * arithmetic.bytes(), type, width);
  }
}
