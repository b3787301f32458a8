package io.github.rmsnorm4j.spark.measure;

import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.spark.measure.SparkResults.Contest;
import io.github.rmsnorm4j.spark.measure.SparkResults.Large;
import io.github.rmsnorm4j.spark.measure.SparkResults.Times;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Results as Markdown. Every figure is computed here, from the rounds. */
final class SparkTables {
  private SparkTables() {}

  static String of(SparkResults results) {
    Map<String, StringBuilder> tables = new LinkedHashMap<>();
    Stream.concat(results.contests().stream(), results.growth().stream())
        .forEach(contest -> add(tables, contest));
    return machine(results)
        + String.join("\n", tables.values())
        + (results.large() == null ? "" : large(results.large()));
  }

  private static String machine(SparkResults results) {
    Machine m = results.machine();
    return text(
        """
        %s, %d processors, %s, Spark %s on %s with a heap of %d MiB, %s. Medians in seconds.

        """,
        m.cpu(),
        m.processors(),
        m.system(),
        results.spark(),
        m.java().replaceAll(" .*", ""),
        results.heapMiB(),
        results.date());
  }

  /** One table for all contests of the same jobs on the same kind of rows. */
  private static void add(Map<String, StringBuilder> tables, Contest contest) {
    List<String> jobs = contest.jobs().stream().map(Times::job).toList();
    String title = contest.title().replaceFirst("^\\d+ million rows$", "array&lt;float&gt;");
    String head = "| " + title + " | " + String.join(" | ", jobs) + " |\n";
    StringBuilder table =
        tables.computeIfAbsent(
            head,
            unused -> new StringBuilder(head + "| --- |" + " ---: |".repeat(jobs.size()) + "\n"));
    table.append(text("| %,d x %d |", contest.rows(), contest.width()));
    contest.jobs().forEach(job -> table.append(text(" %.2f |", job.median())));
    table.append('\n');
  }

  private static String large(Large large) {
    return text(
        """

        In little memory: %,d rows of %d, %.2f GB of Parquet, with `%s`: %.0f s, %.2f GB of memory at most.
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
