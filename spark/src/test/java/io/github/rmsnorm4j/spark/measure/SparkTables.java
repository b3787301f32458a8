package io.github.rmsnorm4j.spark.measure;

import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.SourceCommit;
import io.github.rmsnorm4j.spark.measure.SparkResults.Contest;
import io.github.rmsnorm4j.spark.measure.SparkResults.Large;
import io.github.rmsnorm4j.spark.measure.SparkResults.Times;
import java.util.Locale;

/** Results as Markdown. Every figure and every verdict is computed here, from the rounds. */
final class SparkTables {
  static final double LIMIT_BESIDE_COPY = 1.25;
  static final double LIMIT_BESIDE_SPARK_ML = 0.8;

  private static final String CONTESTS_HEAD =
      """
      | column | rows | job | s | million elements/s | against | ratio | target | verdict |
      | --- | ---: | --- | ---: | ---: | --- | ---: | ---: | --- |
      """;
  private static final String GROWTH_HEAD =
      """
      | rows | copy, s | RMSNorm, s | ratio | RMSNorm, µs a row |
      | ---: | ---: | ---: | ---: | ---: |
      """;

  private SparkTables() {}

  static String of(SparkResults results) {
    String beside = machine(results) + contests(results);
    return results.large() == null ? beside : beside + growth(results) + large(results.large());
  }

  private static String machine(SparkResults results) {
    Machine m = results.machine();
    return text(
        """
        ### %s

        %s %d processors, %s. Spark %s, local[*]. Java: %s, a heap of %d MiB at most. Backend: %s. \
        Times are medians; in brackets the shortest and the longest.

        """,
        m.cpu(),
        SourceCommit.measuredOn(results.date(), results.commit()),
        m.processors(),
        m.system(),
        results.spark(),
        m.java(),
        results.heapMiB(),
        m.backend());
  }

  private static String contests(SparkResults results) {
    StringBuilder table = new StringBuilder(CONTESTS_HEAD);
    for (Contest contest : results.contests()) {
      for (Times job : contest.jobs()) {
        table.append(row(contest, job));
      }
    }
    return table.append('\n').toString();
  }

  private static String row(Contest contest, Times job) {
    String start =
        text(
            "| %s | %d x %d | %s | %s | %.0f |",
            contest.title(),
            contest.rows(),
            contest.width(),
            job.job(),
            seconds(job),
            contest.rows() * contest.width() / job.median() / 1e6);
    Times copy = contest.job(Jobs.COPY);
    Times sparkMl = contest.job(Jobs.SPARK_ML);
    boolean isOwn = job.job().equals(Jobs.RMS_NORM) || job.job().equals(Jobs.LAYER_NORM);
    if (!isOwn) {
      return start + (job == copy ? " | | | |\n" : against(job, copy, 0));
    }
    return sparkMl == null
        ? start + against(job, copy, LIMIT_BESIDE_COPY)
        : start + against(job, sparkMl, LIMIT_BESIDE_SPARK_ML);
  }

  /** The cells that compare; a limit of 0 is none. */
  private static String against(Times job, Times other, double limit) {
    double ratio = job.median() / other.median();
    return limit == 0
        ? text(" %s | %.2f | | |\n", other.job(), ratio)
        : text(
            " %s | %.2f | at most %.2f | %s |\n",
            other.job(), ratio, limit, ratio <= limit ? "met" : "**missed**");
  }

  private static String seconds(Times times) {
    return text("%.2f (%.2f to %.2f)", times.median(), times.least(), times.most());
  }

  private static String growth(SparkResults results) {
    StringBuilder table = new StringBuilder("Growth, array&lt;float&gt; of 64:\n\n" + GROWTH_HEAD);
    for (Contest contest : results.growth()) {
      Times copy = contest.job(Jobs.COPY);
      Times norm = contest.job(Jobs.RMS_NORM);
      table.append(
          text(
              "| %d | %s | %s | %.2f | %.2f |\n",
              contest.rows(),
              seconds(copy),
              seconds(norm),
              norm.median() / copy.median(),
              norm.median() / contest.rows() * 1e6));
    }
    return table.append('\n').toString();
  }

  private static String large(Large large) {
    return text(
        """
        In little memory: %d rows of %d, %.2f GB of Parquet, with `%s`: %.0f s from the start of the process to its end, \
        with the start of the JVM and of Spark. The process took at most %.2f GB of memory, all of it counted.

        """,
        large.rows(),
        large.width(),
        large.bytesIn() / 1e9,
        large.heap(),
        large.seconds(),
        large.peakBytes() / 1e9);
  }

  private static String text(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
