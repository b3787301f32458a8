package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.NormSpec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkException;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Observation;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import scala.Console;

/**
 * Normalises a column of a Parquet file or folder into another: what {@code rmsnorm spark} starts,
 * and what {@code spark-submit} may be given as {@code --class}.
 *
 * <p>The result is a folder of Parquet files that appears when it is complete, or not at all. The
 * exit status is 0 if all went well, 1 for a failure and 2 for wrong use; an error is one line on
 * standard error.
 */
public final class NormalizeParquet {
  /** What Spark takes for a pattern in the name of a file. */
  private static final String PATTERN_SIGNS = "[{}\\[\\]*?\\\\]";

  /** Of a cell that is shown, which may be a row of thousands of elements. */
  private static final int CHARACTERS_SHOWN = 40;

  private final JobArguments arguments;
  private final PrintStream out;
  private final PrintStream err;

  NormalizeParquet(JobArguments arguments, PrintStream out, PrintStream err) {
    this.arguments = arguments;
    this.out = out;
    this.err = err;
  }

  /**
   * Runs one job and ends the JVM.
   *
   * @param args as docs/spark.md has them; wrong ones are answered with a line that lists them
   */
  public static void main(String[] args) {
    int status = status(args, System.out, System.err);
    if (SparkSession.getDefaultSession().nonEmpty()) {
      SparkSession.getDefaultSession().get().stop();
    }
    System.exit(status);
  }

  static int status(String[] args, PrintStream out, PrintStream err) {
    try {
      JobArguments arguments = JobArguments.parse(args);
      new NormalizeParquet(arguments, out, err).run(session(arguments));
      return 0;
    } catch (IllegalArgumentException e) {
      return failed(err, String.valueOf(e.getMessage()), e, 2);
    } catch (Exception e) { // Scala's methods throw checked exceptions that they do not declare.
      return failed(err, Failure.ofJob(e), e, 1);
    }
  }

  private static int failed(PrintStream err, String message, Exception e, int status) {
    err.println("rmsnorm spark: " + Failure.oneLine(JobArguments.inOptions(message)));
    if (System.getenv("RMSNORM_STACKTRACE") != null) {
      e.printStackTrace(err);
    }
    return status;
  }

  private static SparkSession session(JobArguments arguments) throws IOException {
    SparkConf conf = new SparkConf().setIfMissing("spark.app.name", "rmsnorm");
    arguments.conf().forEach(conf::set);
    if (arguments.master() != null) {
      conf.setMaster(arguments.master());
    }
    conf.setIfMissing("spark.master", "local[*]");
    JobArguments.requireAnswer(conf.get("spark.master"));
    conf.setIfMissing("spark.ui.enabled", "false");
    conf.setIfMissing(
        "spark.ui.showConsoleProgress", String.valueOf(arguments.progress().equals("bar")));
    // What folders are called is text: 007 is not 7.
    conf.setIfMissing("spark.sql.sources.partitionColumnTypeInference.enabled", "false");
    // An executor without these flags has the same bits, more slowly.
    conf.setIfMissing(
        "spark.executor.extraJavaOptions",
        "--add-modules=jdk.incubator.vector --enable-native-access=ALL-UNNAMED");
    if (conf.get("spark.master").startsWith("local")) {
      // Nobody else is to connect, and the machine's name may lead nowhere.
      conf.setIfMissing("spark.driver.host", "127.0.0.1");
      conf.setIfMissing("spark.driver.bindAddress", "127.0.0.1");
    } else {
      // Executors elsewhere must be sent it.
      SparkContext.jarOfClass(NormalizeParquet.class).foreach(jar -> addJar(conf, jar));
    }
    return SparkSession.builder().config(conf).getOrCreate();
  }

  private static SparkConf addJar(SparkConf conf, String jar) {
    String jars = conf.get("spark.jars", "");
    return jars.contains(jar)
        ? conf
        : conf.set("spark.jars", (jars.isEmpty() ? "" : jars + ",") + "file:" + jar);
  }

  /** Does all of it in a session that is there. */
  void run(SparkSession session) throws Exception {
    Path in = qualified(arguments.in(), session);
    Observation counted = new Observation();
    if (arguments.out() == null) {
      Dataset<Row> rows = read(session, in);
      show(arguments.column() == null ? rows : normalised(rows, counted));
      return;
    }
    long start = System.nanoTime();
    Path to = qualified(arguments.out(), session);
    try (OutputFolder folder =
        OutputFolder.create(to, arguments.force(), session.sparkContext().hadoopConfiguration())) {
      folder.requireApartFrom(in);
      Dataset<Row> rows = read(session, in);
      PartitionFolders partitions = PartitionFolders.of(rows, in);
      long written = write(normalised(rows, counted), partitions.columns(), folder.unfinished);
      partitions.restoreNames(folder);
      folder.commit();
      if (!arguments.progress().equals("none")) {
        double seconds = (System.nanoTime() - start) * 1e-9;
        err.println(Failure.oneLine(summary(written, counted, seconds)));
      }
    }
    if (arguments.show() > 0) {
      show(read(session, to));
    }
  }

  /** Prints the first rows, with the types of their columns. */
  private void show(Dataset<Row> rows) {
    Column[] columns =
        Stream.of(rows.schema().fields())
            .map(f -> column(rows, f.name()).as(f.name() + " " + f.dataType().simpleString()))
            .toArray(Column[]::new);
    ByteArrayOutputStream table = new ByteArrayOutputStream();
    Console.withOut(
        table,
        () -> {
          rows.select(columns).show(arguments.show(), CHARACTERS_SHOWN);
          return null;
        });
    String lines = table.toString(StandardCharsets.UTF_8).stripTrailing();
    lines.lines().map(Failure::oneLine).forEach(out::println);
  }

  private String summary(long rows, Observation counted, double seconds)
      throws InterruptedException {
    RowNormalizer transformer = arguments.transformer();
    String invalid =
        switch (transformer.getHandleInvalid()) {
          case "keep" -> ", invalid rows made null: " + counted.getAsJava().get("rows");
          case "skip" ->
              ", invalid rows left out: " + ((long) counted.getAsJava().get("rows") - rows);
          default -> "";
        };
    return String.format(
        Locale.ROOT,
        "%s: %d %s%s, %s, column %s, on %s, %.2f s",
        arguments.out(),
        rows,
        rows == 1 ? "row" : "rows",
        invalid,
        NormSpec.parse(transformer.getNorm()),
        arguments.outputColumn() == null ? arguments.column() : arguments.outputColumn(),
        SparkContext.getOrCreate().master(),
        seconds);
  }

  private long write(Dataset<Row> rows, List<String> partitions, Path folder) {
    SparkContext context = rows.sparkSession().sparkContext();
    try (TaskProgress progress = new TaskProgress(err, arguments.progress())) {
      context.addSparkListener(progress);
      try {
        rows.write()
            .mode(SaveMode.Append)
            .partitionBy(partitions.toArray(String[]::new))
            .parquet(folder.toString());
        return progress.awaitRows();
      } catch (Exception e) { // Scala's methods throw checked exceptions that they do not declare.
        if (e instanceof SparkException) { // Of a job, mostly.
          progress.awaitTasks();
        }
        throw e;
      } finally {
        context.removeSparkListener(progress);
      }
    }
  }

  private static Path qualified(String name, SparkSession session) throws IOException {
    Path path = new Path(name);
    return path.getFileSystem(session.sparkContext().hadoopConfiguration()).makeQualified(path);
  }

  private Dataset<Row> read(SparkSession session, Path in) throws IOException {
    FileSystem files = in.getFileSystem(session.sparkContext().hadoopConfiguration());
    if (!files.exists(in)) {
      throw new IOException(arguments.in() + ": there is no such file or folder");
    }
    Dataset<Row> rows;
    try {
      // All columns of all files: Spark would take those of one file to be everybody's.
      rows =
          session
              .read()
              .option("mergeSchema", true)
              .parquet(in.toString().replaceAll(PATTERN_SIGNS, "\\\\$0"));
    } catch (Exception e) {
      IOException failure = new IOException(Failure.ofParquet(arguments.in(), e));
      failure.addSuppressed(e);
      throw failure;
    }
    PartitionFolders.of(rows, in).requireAllRead(files, in);
    return rows;
  }

  /**
   * The rows with the result in the place of its column, or behind all of them.
   *
   * @param counted gets the number of rows that are made null, or that of all rows where some may
   *     be left out
   */
  private Dataset<Row> normalised(Dataset<Row> rows, Observation counted) {
    RowNormalizer transformer = arguments.transformer();
    String result = transformer.getOutputCol();
    String way = transformer.getHandleInvalid();
    Column count = functions.count(functions.lit(1)).as("rows");
    Dataset<Row> all =
        transformer.transform(way.equals("skip") ? rows.observe(counted, count) : rows);
    if (way.equals("keep")) {
      Column invalid =
          column(all, result).isNull().and(column(all, arguments.column()).isNotNull());
      all = all.observe(counted, functions.count_if(invalid).as("rows"));
    }
    return arguments.outputColumn() == null
        ? all.withColumn(arguments.column(), column(all, result)).drop(result)
        : all;
  }

  /** By its name as it is: a dot in it is no path into a struct. */
  private static Column column(Dataset<Row> rows, String name) {
    return rows.col("`" + name.replace("`", "``") + "`");
  }
}
