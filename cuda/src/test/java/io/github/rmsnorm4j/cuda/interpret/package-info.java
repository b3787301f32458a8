/**
 * Runs kernels in PTX on the CPU, thread by thread, and checks what they do. It knows PTX and knows
 * nothing of norms.
 */
package io.github.rmsnorm4j.cuda.interpret;
