package io.github.rmsnorm4j.spark;

import org.apache.spark.sql.SparkSession;

/** Spark in the tests' own JVM. There can be one, so a test that wants another ends it. */
final class LocalSpark {
  private LocalSpark() {}

  /** The session of so many threads. */
  static SparkSession of(int threads) {
    String master = "local[%d]".formatted(threads);
    if (!SparkSession.getDefaultSession().isEmpty()) {
      SparkSession running = SparkSession.getDefaultSession().get();
      if (!running.sparkContext().isStopped() && !running.sparkContext().master().equals(master)) {
        running.stop();
      }
    }
    return SparkSession.builder()
        .master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate();
  }
}
