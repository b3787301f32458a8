/**
 * What the figures of docs/performance.md are measured with, and the tables that are made from
 * them.
 *
 * <p>It may use the core and measure. {@link io.github.rmsnorm4j.benchmarks.SpeedTable} is where to
 * begin reading.
 */
package io.github.rmsnorm4j.benchmarks;
