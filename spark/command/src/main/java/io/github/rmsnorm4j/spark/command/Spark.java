package io.github.rmsnorm4j.spark.command;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.cli.NormOptions;
import io.github.rmsnorm4j.cli.NormSettings;
import io.github.rmsnorm4j.cli.StoredParameter;
import io.github.rmsnorm4j.cli.Terminal;
import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.measure.ChildOutput;
import io.github.rmsnorm4j.measure.ModuleBuild;
import io.github.rmsnorm4j.measure.PinningDefect;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code rmsnorm spark}: starts a job on Apache Spark, in a process of its own. Spark is no part of
 * the command line: Maven fetches it when this is first asked for.
 */
@Command(
    name = "spark",
    description = {
      "Normalize a column of Parquet on Apache Spark, on this machine or on a cluster.",
      "",
      "OUT is a folder of Parquet files with the rows of IN. It appears when it is complete, or not"
          + " at all. A process that is killed may leave a folder .OUT.xxxxxxxx.tmp next to it, which"
          + " can be deleted. With --force it may also leave the old OUT as .OUT.xxxxxxxx.old.",
      "",
      "The column holds array<float>, array<double>, vectors of spark.ml, or packed numbers as"
          + " binary. RMSNORM_OPTS=-Xmx8g gives Spark 8 GiB.",
      "",
      "The first run fetches Spark, about 330 MB, which only this command uses.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm spark examples/embeddings.parquet -o out.parquet --column embedding",
      "  rmsnorm spark in.parquet -o out.parquet --column e --like gemma --gain w.npy",
      "  rmsnorm spark hdfs:///in -o hdfs:///out --column e --master spark://host:7077",
      "  rmsnorm spark out.parquet --show 5"
    })
final class Spark implements Callable<Integer> {
  private static final String PROGRAM = "io.github.rmsnorm4j.spark.NormalizeParquet";

  /** What says nothing of a result. */
  private static final Set<String> WITHOUT_COLUMN =
      Set.of("--show", "--threads", "--master", "--conf", "--quiet");

  /** What a JVM says of its own accord where the Vector API is asked for; no news to a user. */
  private static final String INCUBATOR = "WARNING: Using incubator modules";

  @Spec private CommandSpec spec;

  /** Whether the JVM that would be started corrupts Parquet. */
  private final BooleanSupplier isDefective;

  Spark() {
    this(PinningDefect::isHere);
  }

  /** For tests. */
  Spark(BooleanSupplier isDefective) {
    this.isDefective = isDefective;
  }

  @Parameters(paramLabel = "IN", description = "The Parquet file, or folder of them, to read.")
  private String in;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "OUT",
      description = "The folder to write. It is needed without --show.")
  private String out;

  @Option(
      names = "--column",
      paramLabel = "NAME",
      description = "The column to normalize. It is needed with OUT.")
  private String column;

  @Option(
      names = "--output-column",
      paramLabel = "NAME",
      description =
          "A new column for the result (default: the result replaces the column of --column).")
  private String outputColumn;

  @Option(
      names = "--show",
      paramLabel = "ROWS",
      description =
          "Print the first ROWS rows: of OUT; without OUT, of what it would be; without --column, of"
              + " IN.")
  private Integer show;

  @Option(
      names = "--dtype",
      paramLabel = "TYPE",
      description = "Type of the result: f16, bf16, f32, f64 (default: that of the column).")
  private ElementType type;

  @Option(
      names = "--packed",
      paramLabel = "TYPE",
      description =
          "Type of the numbers in a binary column. It is needed there, because the file does not say.")
  private ElementType packed;

  @Option(
      names = "--width",
      paramLabel = "N",
      description =
          "Elements of a row (default: as many as gain or bias have; without those each row has its"
              + " own width).")
  private Integer width;

  @Option(
      names = "--handle-invalid",
      paramLabel = "WAY",
      description =
          "What to do with rows that are empty, have another width than --width or the gain, or one"
              + " that the norm's groups do not divide, or have elements that are null: ${COMPLETION-CANDIDATES}. error: end the job. keep: the"
              + " result is null. skip: leave the row out (default: error).")
  private Invalid invalid;

  @Mixin private NormOptions norm;

  @Option(
      names = "--master",
      paramLabel = "URL",
      description =
          "Where Spark runs: local[N] on N threads of this machine, or spark://HOST:PORT; yarn and"
              + " k8s://... are not tested (default: local[*], all processors).")
  private String master;

  @Option(
      names = "--conf",
      paramLabel = "KEY=VALUE",
      description = "A setting of Spark; may be repeated.")
  private List<String> conf = List.of();

  @Option(
      names = {"-f", "--force"},
      description =
          "Replace OUT if it exists, as a file or as a folder with only Parquet files in it.")
  private boolean force;

  @Option(
      names = {"-q", "--quiet"},
      description = "No progress and no closing line.")
  private boolean quiet;

  /** Named as spark.ml has them. */
  enum Invalid {
    error,
    keep,
    skip
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<Path> written = new ArrayList<>();
    try {
      List<String> arguments = arguments(written);
      if (isDefective.getAsBoolean()) {
        throw new IOException(PinningDefect.describe(Runtime.version()));
      }
      ModuleBuild build = job();
      Path checkout = build.checkout();
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.add("@" + checkout.resolve("spark/java.options"));
      String options = System.getenv("RMSNORM_OPTS");
      if (options != null && !options.isBlank()) {
        command.addAll(List.of(options.strip().split("\\s+")));
      }
      command.addAll(List.of("-cp", build.classPath(checkout, err()), PROGRAM));
      command.addAll(arguments);
      return ModuleBuild.run(
          new ProcessBuilder(command)
              .redirectInput(ProcessBuilder.Redirect.INHERIT)
              .redirectOutput(ProcessBuilder.Redirect.INHERIT),
          errors -> passOn(errors, ChildOutput.charset(), err()));
    } finally {
      for (Path file : written) {
        Files.deleteIfExists(file);
      }
    }
  }

  /**
   * What the job is told.
   *
   * @param written gets the files that it must read, which are of no use afterwards
   */
  List<String> arguments(List<Path> written) throws IOException {
    requireUse();
    norm.requireNoGate();
    NormSettings settings = WrongUseException.checked(() -> norm.settings(null));
    List<String> arguments = new ArrayList<>(List.of(in));
    option(arguments, "-o", out);
    option(arguments, "--show", show);
    if (column != null) {
      option(arguments, "--column", column);
      option(arguments, "--output-column", outputColumn);
      option(arguments, "--like", settings.spec());
      option(arguments, "--width", width);
      // Some cast orders ask what a gain is stored in.
      ElementType gainType = parameter(arguments, "gain", settings.gain(), written);
      option(arguments, "--set", gainType == null ? null : "gainType=" + gainType);
      parameter(arguments, "bias", settings.bias(), written);
      option(arguments, "--packed", packed);
      option(arguments, "--dtype", type);
      option(arguments, "--handle-invalid", invalid);
    }
    option(arguments, "--master", master(settings.threads()));
    conf.forEach(setting -> option(arguments, "--conf", setting));
    if (force) {
      arguments.add("--force");
    }
    option(arguments, "--progress", quiet ? "none" : Terminal.isStandardError() ? "bar" : "lines");
    return arguments;
  }

  /** Refuses what makes no sense before anything is built. */
  private void requireUse() {
    if (out == null && show == null) {
      throw new WrongUseException("-o OUT is missing; --show 5 only looks at IN");
    }
    require("--show", show);
    require("--width", width);
    for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
      if (out == null && option.longestName().equals("--force")) {
        throw new WrongUseException("--force needs -o OUT");
      }
      if (column == null && !WITHOUT_COLUMN.contains(option.longestName())) {
        throw new WrongUseException(option.longestName() + " needs --column NAME");
      }
    }
  }

  private static void require(String option, Integer value) {
    if (value != null && value < 1) {
      throw new WrongUseException(option + " is " + value + ", it must be 1 or more");
    }
  }

  private String master(Integer threads) {
    if (threads == null) {
      return master;
    }
    if (master != null) {
      throw new WrongUseException(
          "--threads and --master exclude each other: --master local[4] has 4");
    }
    require("--threads", threads);
    return "local[" + threads + "]";
  }

  private static void option(List<String> arguments, String name, Object value) {
    if (value != null) {
      arguments.addAll(List.of(name, value.toString()));
    }
  }

  /** By a file, since a command has no room for a gain. Returns its type, or null without one. */
  private static ElementType parameter(
      List<String> arguments, String name, StoredParameter parameter, List<Path> written)
      throws IOException {
    if (parameter == null) {
      return null;
    }
    try (Arena arena = Arena.ofConfined()) {
      Rows row = parameter.read(arena);
      Path file = Files.createTempFile("rmsnorm-" + name, ".txt");
      written.add(file);
      file.toFile().deleteOnExit(); // Ctrl-C leaves no time for more.
      Files.write(
          file, Arrays.stream(StoredParameter.values(row)).mapToObj(Double::toString).toList());
      option(arguments, "--" + name, file);
      return row.type();
    }
  }

  /** As it comes, without what the JVM says of the Vector API in the first line. */
  static void passOn(InputStream bytes, Charset charset, PrintWriter err) {
    try (BufferedReader errors = new BufferedReader(new InputStreamReader(bytes, charset))) {
      char[] buffer = new char[1 << 13];
      errors.mark(1 << 16);
      String first = errors.readLine();
      if (first != null && !first.startsWith(INCUBATOR)) {
        errors.reset();
      }
      for (int length; (length = errors.read(buffer)) >= 0; ) {
        err.write(buffer, 0, length);
        err.flush();
      }
    } catch (IOException _) {
      // Closed, since this process is being ended and the job with it.
    }
  }

  private PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** The job, in the one jar that executors are sent. */
  private static ModuleBuild job() {
    return new ModuleBuild(
        "spark",
        List.of("core", "spark"),
        "target/rmsnorm4j-spark.jar",
        // Single goals instead of a phase, which would download the test tools bound to it.
        List.of(
            "resources:resources",
            "compiler:compile",
            "jar:jar",
            "shade:shade",
            "dependency:build-classpath"),
        "the job",
        "Spark, about 330 MB the first time (this may take minutes)");
  }
}
