/**
 * Kernels in PTX, made from the programs of {@code io.github.rmsnorm4j.internal.formula}. They are
 * text: nothing here needs a driver or a device.
 */
package io.github.rmsnorm4j.cuda.ptx;
