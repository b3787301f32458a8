/**
 * Programs that measure this library, alone and next to others, and the tables and charts that are
 * made from what they measured.
 *
 * <p>It may use the core and measure.
 */
package io.github.rmsnorm4j.benchmarks;
