/**
 * The CUDA driver: its functions, a device's context, and what lives in it.
 *
 * <p>The driver keeps a stack of current contexts for each thread of the operating system. {@link
 * io.github.rmsnorm4j.cuda.driver.CudaContext} pushes its context before each call and pops it
 * after, so the contexts of other libraries are left as they were. Nothing between push and pop may
 * block: a virtual thread that blocks can go on on another thread of the operating system, where
 * another context is current.
 */
package io.github.rmsnorm4j.cuda.driver;
