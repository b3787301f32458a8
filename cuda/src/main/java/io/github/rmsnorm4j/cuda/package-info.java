/**
 * The norms on NVIDIA GPUs, with the bits of the CPU.
 *
 * <p>{@link io.github.rmsnorm4j.cuda.CudaDevice} opens a device and says what is missing where
 * there is none. {@link io.github.rmsnorm4j.cuda.CudaMemory} is memory of a device with the life of
 * an arena, {@link io.github.rmsnorm4j.cuda.CudaRows} a view of it as rows, and {@link
 * io.github.rmsnorm4j.cuda.CudaStream} the order of the work on it. {@link
 * io.github.rmsnorm4j.cuda.CudaNorm} is a norm on a device.
 *
 * <p>It may use the core alone, and calls the driver through the foreign function interface.
 */
package io.github.rmsnorm4j.cuda;
