/**
 * What is true of many rows together, gathered in one pass over a file: statistics of rows, and the
 * gradient of a gain or a bias. Uses the core and formats. {@link
 * io.github.rmsnorm4j.models.rows.RowStatistics} is where to begin reading.
 */
package io.github.rmsnorm4j.models.rows;
