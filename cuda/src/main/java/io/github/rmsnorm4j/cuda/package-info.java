/** The norms on NVIDIA GPUs, with the bits of the CPU. */
package io.github.rmsnorm4j.cuda;
