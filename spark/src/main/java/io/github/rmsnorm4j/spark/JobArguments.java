package io.github.rmsnorm4j.spark;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.ml.param.DoubleArrayParam;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.Param;

/**
 * What {@link NormalizeParquet} is asked for.
 *
 * @param in a file or folder of Parquet
 * @param out the folder to write, null for none
 * @param show how many of the first rows to print
 * @param params of the transformer, as texts; without a column nothing is normalised
 * @param master null for Spark's own choice
 * @param conf settings of Spark
 * @param force whether to replace what is at {@code out}
 * @param progress how to show it: lines, bar or none
 */
record JobArguments(
    String in,
    String out,
    int show,
    Map<String, String> params,
    String master,
    Map<String, String> conf,
    boolean force,
    String progress) {
  private static final String USAGE =
      "usage: IN -o OUT --column NAME [--output-column NAME] [--like NORM] [--gain FILE]"
          + " [--bias FILE] [--width N] [--packed TYPE] [--dtype TYPE]"
          + " [--handle-invalid error|keep|skip] [--set PARAM=VALUE]... [--show ROWS]"
          + " [--master URL] [--conf KEY=VALUE]... [--force] [--progress lines|bar|none];"
          + " with --show OUT is not needed";

  /** The params that have options of their own. */
  private static final Map<String, String> PARAMS =
      Map.of(
          "--column", "inputCol",
          "--output-column", "outputCol",
          "--like", "norm",
          "--gain", "gain",
          "--bias", "bias",
          "--width", "width",
          "--packed", "inputType",
          "--dtype", "outputType",
          "--handle-invalid", "handleInvalid");

  /** The params that may be files of numbers. */
  private static final Set<String> PARAMETERS = Set.of("gain", "bias");

  private static final String STANDALONE = "spark://";
  private static final String MASTERS =
      "local, local[N], local[*], spark://HOST:PORT, yarn or k8s://...";
  private static final int MILLIS_TO_ANSWER = 10_000;

  /** What Spark's launchers give a driver as it starts, and nobody afterwards. */
  private static final Pattern TOO_LATE =
      Pattern.compile(
          "spark\\.driver\\.(memory|memoryOverhead|(default|extra)(JavaOptions|ClassPath|LibraryPath))");

  private static final Pattern MASTER =
      Pattern.compile(
          "local(\\[.*])?|spark://[^,]+:\\d{1,5}(,[^,]+:\\d{1,5})*|yarn|k8s://.+|local-cluster\\[.*]");

  /**
   * Reads the words of a command.
   *
   * @throws IllegalArgumentException if they make no sense
   */
  static JobArguments parse(String... args) {
    Map<String, String> options = new LinkedHashMap<>();
    Map<String, String> params = new LinkedHashMap<>();
    Map<String, String> conf = new LinkedHashMap<>();
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--force" -> options.put(args[i], "");
        case "--set" -> pair(params, args[i], value(args, ++i));
        case "--conf" -> pair(conf, args[i], value(args, ++i));
        case "-o", "--show", "--master", "--progress" -> options.put(args[i], value(args, ++i));
        default -> {
          String param = PARAMS.get(args[i]);
          if (param != null) {
            params.put(param, (PARAMETERS.contains(param) ? "@" : "") + value(args, ++i));
          } else if (args[i].startsWith("--") || options.putIfAbsent("IN", args[i]) != null) {
            throw new IllegalArgumentException("unknown: " + args[i] + "; " + USAGE);
          }
        }
      }
    }
    params.replaceAll(JobArguments::text);
    conf.forEach(JobArguments::requireInTime);
    String master = options.get("--master");
    require(master == null || MASTER.matcher(master).matches(), "--master", master, MASTERS);
    String progress = options.getOrDefault("--progress", "lines");
    boolean known = Set.of("lines", "bar", "none").contains(progress);
    require(known, "--progress", progress, "lines, bar or none");
    String show = options.getOrDefault("--show", "0");
    require(show.matches("\\d{1,6}"), "--show", show, "a number of rows");
    boolean showsOnly = Integer.parseInt(show) > 0 && !options.containsKey("-o");
    if (showsOnly && options.containsKey("--force")) {
      throw new IllegalArgumentException("--force needs -o OUT");
    }
    JobArguments arguments =
        new JobArguments(
            needed(options, "IN"),
            showsOnly ? null : needed(options, "-o"),
            Integer.parseInt(show),
            params,
            master,
            conf,
            options.containsKey("--force"),
            progress);
    if (!showsOnly || !params.isEmpty()) {
      options.put("--column", arguments.column());
      needed(options, "--column");
      // A norm that cannot be is refused before Spark is started, which takes seconds.
      arguments.transformer().settings();
    }
    return arguments;
  }

  /** What a transformer says of its params, of the options that this program has for them. */
  static String inOptions(String message) {
    String said = message.replaceFirst("^\\w+Normalizer_\\w+: ", "");
    for (Map.Entry<String, String> option : PARAMS.entrySet()) {
      said =
          said.replaceFirst("(^|; )" + option.getValue() + "(?= (is|'))", "$1" + option.getKey());
    }
    return said;
  }

  private static String text(String param, String value) {
    if (!value.startsWith("@") || !PARAMETERS.contains(param)) {
      return value;
    }
    try {
      return Files.readString(Path.of(value.substring(1)));
    } catch (IOException e) {
      String reason = e instanceof CharacterCodingException ? "it is no text of numbers" : "" + e;
      throw new IllegalArgumentException(
          "%s is %s: the file cannot be read: %s".formatted(param, value.substring(1), reason), e);
    }
  }

  private static void requireInTime(String key, String value) {
    if (TOO_LATE.matcher(key).matches()) {
      throw new IllegalArgumentException(
          "--conf %s=%s comes too late, this is the driver: RMSNORM_OPTS has its options, such as -Xmx8g, or those of spark-submit"
              .formatted(key, value));
    }
  }

  private static void require(boolean sense, String option, String value, String allowed) {
    if (!sense) {
      throw new IllegalArgumentException(
          "%s is %s, it may be %s".formatted(option, value, allowed));
    }
  }

  private static String value(String[] args, int i) {
    if (i == args.length) {
      throw new IllegalArgumentException(args[i - 1] + " takes a value; " + USAGE);
    }
    return args[i];
  }

  private static void pair(Map<String, String> pairs, String option, String text) {
    int equals = text.indexOf('=');
    if (equals < 1) {
      throw new IllegalArgumentException("%s is %s, it must be NAME=VALUE".formatted(option, text));
    }
    pairs.put(text.substring(0, equals), text.substring(equals + 1));
  }

  private static String needed(Map<String, String> options, String name) {
    String value = options.get(name);
    if (value == null || value.isEmpty()) {
      throw new IllegalArgumentException(
          name + (value == null ? " is missing; " : " is empty; ") + USAGE);
    }
    return value;
  }

  /**
   * Checks that somebody answers where a standalone master should be: Spark itself would try for a
   * minute, and then say that something else is wrong.
   *
   * @throws IOException if nobody does
   */
  static void requireAnswer(String master) throws IOException {
    if (!master.startsWith(STANDALONE)) {
      return;
    }
    for (String address : master.substring(STANDALONE.length()).split(",")) {
      int colon = address.lastIndexOf(':');
      int port = Integer.parseInt(address.substring(colon + 1));
      require(port < 1 << Short.SIZE, "--master", master, MASTERS);
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(address.substring(0, colon), port), MILLIS_TO_ANSWER);
        return;
      } catch (IOException ignored) {
        // Another of them may.
      }
    }
    throw new IOException("--master is %s: nobody answers there".formatted(master));
  }

  /** The column to normalise; null to leave all as they are. */
  String column() {
    return params.get("inputCol");
  }

  /** Where the result goes; null for the column's own place. */
  String outputColumn() {
    return params.get("outputCol");
  }

  /**
   * The transformer that does it.
   *
   * @throws IllegalArgumentException if it has no such param, or not with such a value
   */
  RowNormalizer transformer() {
    RowNormalizer transformer = new RowNormalizer();
    params.forEach((name, value) -> set(transformer, name, value));
    return transformer;
  }

  private static void set(RowNormalizer transformer, String name, String text) {
    if (!transformer.hasParam(name)) {
      List<String> names = Stream.of(transformer.params()).map(Param::name).toList();
      throw new IllegalArgumentException(
          "--set %s: there is no such param, there are %s"
              .formatted(name, String.join(", ", names)));
    }
    Param<Object> param = transformer.getParam(name);
    try {
      transformer.set(
          param,
          switch ((Object) param) {
            case IntParam ignored -> Integer.valueOf(text.strip());
            case DoubleArrayParam ignored ->
                Stream.of(text.replaceAll("[\\[\\],]", " ").strip().split("\\s+"))
                    .mapToDouble(Double::parseDouble)
                    .toArray();
            default -> text;
          });
    } catch (NumberFormatException e) {
      String quoted = e.getMessage().replace("For input string: ", "");
      throw new IllegalArgumentException(
          "%s cannot be %.100s; it is: %s".formatted(name, quoted, param.doc()), e);
    }
  }
}
