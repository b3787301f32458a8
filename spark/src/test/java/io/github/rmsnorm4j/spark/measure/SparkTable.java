package io.github.rmsnorm4j.spark.measure;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.SourceCommit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;

/**
 * Measures the jobs of docs/spark.md and prints its tables. The page says how to start it and how
 * to read what it prints.
 */
public final class SparkTable {
  private static final String USAGE =
      """
      SparkTable [--quick] [--only TEXT] [--folder FOLDER]
        --quick          a hundredth of the rows; the figures mean nothing
        --only TEXT      only jobs beside each other whose columns contain TEXT: "vector", "float"
        --folder FOLDER  where the rows go, 9 GiB of them (default: target/measure)
      """;

  private static final int ROUNDS = 5;
  private static final int WARMUPS = 2;
  private static final int MILLION = 1_000_000;
  private static final List<Integer> GROWTH = List.of(1, 2, 4, 8);
  private static final String LARGE_HEAP = "-Xmx1g";

  private boolean quick;
  private String only = "";
  private Path folder = Path.of("target/measure");

  private SparkTable(String... args) {
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--quick" -> quick = true;
        case "--only" -> only = value(args, ++i);
        case "--folder" -> folder = Path.of(value(args, ++i));
        default -> throw new IllegalArgumentException("unknown: " + args[i] + "\n" + USAGE);
      }
    }
  }

  private static String value(String[] args, int i) {
    if (i == args.length) {
      throw new IllegalArgumentException(args[i - 1] + " takes a value\n" + USAGE);
    }
    return args[i];
  }

  /**
   * Measures and prints.
   *
   * @param args see the usage that an unknown option prints
   * @throws Exception if a file cannot be read or written, or a job fails
   */
  public static void main(String[] args) throws Exception {
    try {
      new SparkTable(args).run();
    } catch (IllegalArgumentException e) {
      System.err.println("SparkTable: " + e.getMessage());
      System.exit(2);
    }
  }

  private void run() throws IOException, InterruptedException {
    SparkResults results;
    Jobs.delete(folder);
    Files.createDirectories(folder);
    try {
      results = measure();
    } finally {
      Jobs.delete(folder);
    }
    System.out.println(SparkTables.of(results));
  }

  private SparkResults measure() throws IOException, InterruptedException {
    List<SparkResults.Contest> contests = new ArrayList<>();
    List<SparkResults.Contest> growth = new ArrayList<>();
    String version;
    try (SparkSession session = session()) {
      version = session.version();
      for (Plan plan : Plan.ALL) {
        if (plan.title.contains(only)) {
          contests.add(contest(session, plan, WARMUPS, ROUNDS));
        }
      }
      for (int millions : only.isEmpty() ? GROWTH : List.<Integer>of()) {
        String title = millions + " million rows";
        List<String> jobs = List.of(Jobs.COPY, Jobs.RMS_NORM);
        growth.add(
            contest(
                session, new Plan(title, false, 64, (long) millions * MILLION, true, jobs), 0, 3));
      }
    }
    return new SparkResults(
        LocalDate.now().toString(),
        SourceCommit.of(Path.of("..")),
        Machine.thisOne(Backend.best()).withoutFlags(List.of("--add-opens", "-D", "--sun")),
        version,
        Runtime.getRuntime().maxMemory() >> 20,
        contests,
        growth,
        only.isEmpty() ? large() : null);
  }

  private static SparkSession session() {
    return SparkSession.builder()
        .master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate();
  }

  /** What is measured beside each other. */
  private record Plan(
      String title, boolean vectors, int width, long rows, boolean written, List<String> jobs) {
    private static final List<String> ARRAYS = List.of(Jobs.COPY, Jobs.RMS_NORM, Jobs.LAYER_NORM);
    private static final List<String> VECTORS = List.of(Jobs.COPY, Jobs.RMS_NORM, Jobs.SPARK_ML);
    private static final List<Plan> ALL =
        List.of(
            new Plan("array&lt;float&gt;", false, 64, MILLION, true, ARRAYS),
            new Plan("array&lt;float&gt;", false, 768, 100_000, true, ARRAYS),
            new Plan("vector", true, 64, MILLION / 2, true, VECTORS),
            new Plan("vector", true, 768, 50_000, true, VECTORS),
            new Plan("vector, in memory", true, 64, MILLION, false, VECTORS),
            new Plan("vector, in memory", true, 768, 100_000, false, VECTORS));

    GeneratedRows generated() {
      return new GeneratedRows(vectors, width);
    }
  }

  private SparkResults.Contest contest(SparkSession session, Plan plan, int warmups, int rounds)
      throws IOException {
    long rows = quick ? plan.rows / 100 : plan.rows;
    System.err.println(plan.title + ", " + rows + " x " + plan.width);
    GeneratedRows generated = plan.generated();
    Path here = Files.createDirectory(folder.resolve("contest"));
    try {
      generated.write(session, rows, 4, here.resolve("in.parquet"));
      Jobs jobs = new Jobs(session, generated, here, plan.written);
      List<SparkResults.Times> times = jobs.measure(rows, plan.jobs, warmups, rounds);
      long bytes = rows * plan.width * (plan.vectors ? Double.BYTES : Float.BYTES);
      return new SparkResults.Contest(plan.title, rows, plan.width, bytes, times);
    } finally {
      Jobs.delete(here);
    }
  }

  /** The command's own program in a JVM of its own, and what it takes of the machine's memory. */
  private SparkResults.Large large() throws IOException, InterruptedException {
    long rows = quick ? MILLION / 10 : 10L * MILLION;
    System.err.println("ten million rows in " + LARGE_HEAP);
    GeneratedRows generated = new GeneratedRows(false, 64);
    Path in = folder.resolve("large.parquet");
    Path out = folder.resolve("result.parquet");
    try (SparkSession session = session()) {
      generated.write(session, rows, 8, in);
    }
    LargeRun run = LargeRun.of(LARGE_HEAP, in, out);
    try (SparkSession session = session()) {
      generated.requireNormalised(session, rows, out);
    }
    try (Stream<Path> files = Files.list(in)) {
      long bytes = files.mapToLong(file -> file.toFile().length()).sum();
      return new SparkResults.Large(
          rows, generated.width(), bytes, LARGE_HEAP, run.seconds(), run.peakBytes());
    }
  }
}
