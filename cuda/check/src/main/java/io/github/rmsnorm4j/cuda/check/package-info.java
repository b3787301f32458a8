/**
 * A program that checks the norms on a GPU: bits, errors, guards and times.
 *
 * <p>It may use cuda alone, so that its archive is small enough to be copied to a machine with a
 * GPU. {@code Check} is where to begin reading.
 */
package io.github.rmsnorm4j.cuda.check;
