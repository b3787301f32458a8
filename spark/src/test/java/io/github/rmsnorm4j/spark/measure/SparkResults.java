package io.github.rmsnorm4j.spark.measure;

import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.Samples;
import java.util.List;

/**
 * All that a run of {@link SparkTable} measured: every round, so that each figure can be computed
 * again.
 *
 * @param date when, as 2026-01-31
 * @param commit of the sources, or null if it is not known
 * @param machine what on
 * @param spark the version
 * @param heapMiB how much memory the JVM that measures may use for objects
 * @param contests jobs beside each other
 * @param growth the same job on more and more rows
 * @param large one job on many rows in little memory, or null if only contests were held
 */
record SparkResults(
    String date,
    String commit,
    Machine machine,
    String spark,
    long heapMiB,
    List<Contest> contests,
    List<Contest> growth,
    Large large) {

  /**
   * Jobs on the same rows, done in turn.
   *
   * @param title of the rows and where they go
   * @param rows how many
   * @param width of a row
   * @param bytes of all elements that go in
   * @param jobs all of them
   */
  record Contest(String title, long rows, int width, long bytes, List<Times> jobs) {}

  /**
   * What a job took.
   *
   * @param job which
   * @param seconds a number per round
   */
  record Times(String job, List<Double> seconds) {
    double median() {
      return Samples.median(seconds);
    }
  }

  /**
   * A process of its own from its start to its end.
   *
   * @param rows how many
   * @param width of a row
   * @param bytesIn of the files that it read
   * @param heap the JVM's option
   * @param seconds all of it took
   * @param peakBytes the most memory that it had at a time, all of it, heap and not
   */
  record Large(long rows, int width, long bytesIn, String heap, double seconds, long peakBytes) {}
}
