package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.cuda.driver.LaunchShape;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;

/**
 * One launch of a kernel. The launches of a call go to one stream, in order.
 *
 * @param parameters the block of bytes with the kernel's parameters
 */
record KernelCall(PtxKernel kernel, LaunchShape shape, byte[] parameters) {}
