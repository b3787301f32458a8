package io.github.rmsnorm4j.spark;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
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
    SparkSession.getDefaultSession().foreach(NormalizeParquet::stop);
    System.exit(status);
  }

  private static Void stop(SparkSession session) {
    session.stop();
    return null;
  }

  static int status(String[] args, PrintStream out, PrintStream err) {
    try {
      JobArguments arguments = JobArguments.parse(args);
      new NormalizeParquet(arguments, out, err).run(session(arguments));
      return 0;
    } catch (IllegalArgumentException e) {
      return failed(err, wrongUse(String.valueOf(e.getMessage())), e, 2);
    } catch (Exception e) { // Scala's methods throw checked exceptions that they do not declare.
      return failed(err, inOptions(Failure.ofJob(e)), e, 1);
    }
  }

  /**
   * In this program's words: a transformer begins with its own name, which tells it from others in
   * a pipeline, and has params where the job has options.
   */
  private static String wrongUse(String message) {
    return JobArguments.inOptions(message.replaceFirst("^\\w+Normalizer_\\w+: ", ""));
  }

  /** The advice of a transformer, as the options that this program has. */
  private static String inOptions(String message) {
    return message.replaceFirst(
        "; " + RowFunction.ADVICE + "$",
        "; --handle-invalid keep makes such rows null, --handle-invalid skip leaves them out");
  }

  private static int failed(PrintStream err, String message, Exception e, int status) {
    err.println("rmsnorm spark: " + Failure.oneLine(message));
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
    // What folders are called is text: 007 is not 7.
    conf.setIfMissing("spark.sql.sources.partitionColumnTypeInference.enabled", "false");
    // An executor without these flags has the same bits, more slowly.
    conf.setIfMissing(
        "spark.executor.extraJavaOptions",
        "--add-modules=jdk.incubator.vector --enable-native-access=ALL-UNNAMED");
    String jar = jar();
    if (conf.get("spark.master").startsWith("local")) {
      // Nobody else is to connect, and the machine's name may lead nowhere.
      conf.setIfMissing("spark.driver.host", "127.0.0.1");
      conf.setIfMissing("spark.driver.bindAddress", "127.0.0.1");
    } else if (jar != null && !conf.get("spark.jars", "").contains(jar)) {
      conf.set(
          "spark.jars", conf.contains("spark.jars") ? conf.get("spark.jars") + "," + jar : jar);
    }
    return SparkSession.builder().config(conf).getOrCreate();
  }

  /** The jar that this class is in, which executors elsewhere must be sent; null for a folder. */
  private static String jar() throws IOException {
    try {
      String location =
          NormalizeParquet.class
              .getProtectionDomain()
              .getCodeSource()
              .getLocation()
              .toURI()
              .getPath();
      return location.endsWith(".jar") ? location : null;
    } catch (URISyntaxException e) {
      throw new IOException(e);
    }
  }

  /** Does all of it in a session that is there. */
  void run(SparkSession session) throws Exception {
    Path in = qualified(arguments.in(), session);
    Observation read = new Observation("read");
    Observation kept = new Observation("kept");
    if (arguments.out() == null) {
      Dataset<Row> rows = read(session, in);
      show(arguments.column() == null ? rows : normalised(rows, read, kept));
      return;
    }
    long start = System.nanoTime();
    Path to = qualified(arguments.out(), session);
    try (OutputFolder folder =
        OutputFolder.create(to, arguments.force(), session.sparkContext().hadoopConfiguration())) {
      folder.requireApartFrom(in);
      Dataset<Row> rows = read(session, in);
      PartitionFolders partitions = PartitionFolders.of(rows, in);
      long written = write(normalised(rows, read, kept), partitions.columns(), folder.unfinished);
      partitions.restoreNames(folder);
      folder.commit();
      if (arguments.progress() != TaskProgress.Style.none) {
        double seconds = (System.nanoTime() - start) * 1e-9;
        String invalid =
            switch (way()) {
              case "keep" -> ", invalid rows made null: " + kept.getAsJava().get("rows");
              case "skip" ->
                  ", invalid rows left out: " + ((long) read.getAsJava().get("rows") - written);
              default -> "";
            };
        String master = session.sparkContext().master();
        err.println(Failure.oneLine(summary(written, invalid, master, seconds)));
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
    table.toString(StandardCharsets.UTF_8).lines().map(Failure::oneLine).forEach(out::println);
  }

  private String way() {
    return arguments.params().getOrDefault("handleInvalid", "error");
  }

  private String summary(long rows, String invalid, String master, double seconds) {
    return String.format(
        Locale.ROOT,
        "%s: %d %s%s, %s, column %s, on %s, %.2f s",
        arguments.out(),
        rows,
        rows == 1 ? "row" : "rows",
        invalid,
        arguments.norm(),
        arguments.resultColumn(),
        master,
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
    try {
      // All columns of all files: Spark would take those of one file to be everybody's.
      return session
          .read()
          .option("mergeSchema", true)
          .parquet(in.toString().replaceAll(PATTERN_SIGNS, "\\\\$0"));
    } catch (Exception e) {
      IOException failure = new IOException(Failure.ofParquet(arguments.in(), e));
      failure.addSuppressed(e);
      throw failure;
    }
  }

  /**
   * The rows with the result in the place of its column, or behind all of them.
   *
   * @param read gets the number of all rows, where some may be left out
   * @param kept gets the number of rows that are made null, where some may be
   */
  private Dataset<Row> normalised(Dataset<Row> rows, Observation read, Observation kept) {
    String result = arguments.outputColumn();
    if (result == null) {
      result = arguments.column() + " normalized";
      while (Arrays.asList(rows.columns()).contains(result)) {
        result += "'";
      }
    }
    RowNormalizer transformer = arguments.transformer(result);
    Column count = functions.count(functions.lit(1)).as("rows");
    Dataset<Row> all =
        transformer.transform(way().equals("skip") ? rows.observe(read, count) : rows);
    if (way().equals("keep")) {
      Column invalid =
          column(all, result).isNull().and(column(all, arguments.column()).isNotNull());
      all = all.observe(kept, functions.count_if(invalid).as("rows"));
    }
    if (arguments.outputColumn() != null) {
      return all;
    }
    List<Column> columns = new ArrayList<>();
    for (String name : rows.columns()) {
      columns.add(
          name.equals(arguments.column()) ? column(all, result).as(name) : column(all, name));
    }
    return all.select(columns.toArray(Column[]::new));
  }

  /** By its name as it is: a dot in it is no path into a struct. */
  private static Column column(Dataset<Row> rows, String name) {
    return rows.col("`" + name.replace("`", "``") + "`");
  }
}
