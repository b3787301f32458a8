/**
 * RMSNorm and LayerNorm as a transformer of Spark ML: {@link
 * io.github.rmsnorm4j.spark.RowNormalizer}.
 *
 * <p>The result of a row depends on that row alone, whatever the partitions, the executors and
 * their processors, and is bit for bit that of the library and of its command line.
 *
 * <p>It may use the core and Spark.
 */
package io.github.rmsnorm4j.spark;
