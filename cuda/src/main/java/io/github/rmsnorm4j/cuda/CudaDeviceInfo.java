package io.github.rmsnorm4j.cuda;

import java.util.Optional;

/**
 * What the driver says of a device.
 *
 * @param index the driver's number of the device, from 0 on
 * @param name the device's name, such as {@code NVIDIA H100 80GB HBM3}
 * @param computeCapability what kind of device it is, such as 9.0
 * @param memoryBytes size of its memory
 * @param missing why no norm can run there; empty if it can be opened
 */
public record CudaDeviceInfo(
    int index,
    String name,
    CudaVersion computeCapability,
    long memoryBytes,
    Optional<String> missing) {
  /** For example {@code device 0 (NVIDIA H100 80GB HBM3)}. */
  @Override
  public String toString() {
    return "device " + index + " (" + name + ")";
  }
}
