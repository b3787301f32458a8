/**
 * What commands and measurements share: things timed in turn, fresh JVMs, modules of a checkout
 * that are built when they are needed, a description of the machine, standard output that fails
 * visibly, and text broken into lines.
 *
 * <p>It may use the core alone. {@link io.github.rmsnorm4j.measure.Interleaved} is where to begin
 * reading.
 */
package io.github.rmsnorm4j.measure;
