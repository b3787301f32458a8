package io.github.rmsnorm4j.cli;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code rmsnorm bench}: starts the measurements beside other libraries, in a process of their own.
 * Those libraries are no part of the command line: Maven fetches them when this is first asked for.
 */
@Command(
    name = "bench",
    description = {
      "Measure this library beside libtorch, oneDNN, ONNX Runtime and a plain Java loop.",
      "",
      "All do the same work on the same rows, in turn, and their answers are checked first. Printed"
          + " are times, targets, and a table of rows that some systems get wrong. The first run"
          + " fetches what is compared with, about 190 MB, which only this command uses. A whole run"
          + " takes about an hour; leave the machine alone meanwhile.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm bench --quick",
      "  rmsnorm bench --only \"128 x 4096\" --threads 1 --check",
      "  rmsnorm bench --traps"
    })
final class Bench implements Callable<Integer> {
  /** The top folder of the checkout that the launcher belongs to. */
  static final String HOME = "rmsnorm.home";

  private static final List<String> MODULES = List.of("core", "measure", "benchmarks", "peers");
  private static final String PROGRAM = "io.github.rmsnorm4j.peers.PeerTable";
  private static final int ERRORS_SHOWN = 5;

  @Spec private CommandSpec spec;

  @Option(
      names = "--quick",
      description = "Short rounds of few shapes, about two minutes; the figures mean little.")
  private boolean quick;

  @Option(
      names = "--only",
      paramLabel = "TEXT",
      description = "Only what has TEXT in its title, such as \"LayerNorm float32 1 x 4096\".")
  private String only;

  @Option(
      names = "--threads",
      paramLabel = "N",
      split = ",",
      description = "With so many threads, or N,N,... (default: 1 and all processors).")
  private List<Integer> threads = List.of();

  @Option(
      names = "--jvms",
      paramLabel = "N",
      description =
          "Measure each shape in N fresh JVMs and show the middle one (default: 1). What the"
              + " compiler makes of the same code differs.")
  private Integer jvms;

  @Option(
      names = "--polluted",
      description = "Only in JVMs that much else has been through, which takes half the time.")
  private boolean polluted;

  @Option(names = "--traps", description = "Only the rows that some systems get wrong.")
  private boolean traps;

  @Option(names = "--check", description = "End with status 1 if a target is missed, and name it.")
  private boolean check;

  @Option(
      names = "--write",
      description = "Keep all rounds in docs/benchmarks and make docs/performance.md again.")
  private boolean write;

  @Option(names = "--json", paramLabel = "FILE", description = "Write all rounds to FILE as well.")
  private Path json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<String> arguments = arguments();
    Path checkout = checkout();
    Path classPath = checkout.resolve("peers/target/classpath");
    if (isStale(checkout, classPath)) {
      build(checkout, classPath);
    }
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                // Unpacked where `clean` takes it away again, and no collections on its account.
                "-Dorg.bytedeco.javacpp.cachedir=" + checkout.resolve("peers/target/javacpp"),
                "-Dorg.bytedeco.javacpp.maxbytes=0",
                "-Dorg.bytedeco.javacpp.maxphysicalbytes=0",
                "-cp",
                checkout.resolve("peers/target/classes")
                    + File.pathSeparator
                    + Files.readString(classPath).strip(),
                PROGRAM,
                "--checkout",
                checkout.toString()));
    command.addAll(arguments);
    return run(new ProcessBuilder(command).inheritIO());
  }

  private List<String> arguments() {
    if (write && (quick || traps || polluted || only != null)) {
      throw wrong("--write takes a whole run: it excludes --quick, --only, --polluted and --traps");
    }
    if (check && traps) {
      throw wrong("--check and --traps exclude each other: there are no targets for traps");
    }
    for (int count : threads) {
      if (count < 1 || count > 1024) {
        throw wrong("--threads is " + count + ", it may be 1 to 1024");
      }
    }
    if (jvms != null && (jvms < 1 || jvms > 100)) {
      throw wrong("--jvms is " + jvms + ", it may be 1 to 100");
    }
    List<String> arguments = new ArrayList<>();
    flag(arguments, "--quick", quick);
    flag(arguments, "--polluted", polluted);
    flag(arguments, "--traps", traps);
    flag(arguments, "--check", check);
    flag(arguments, "--write", write);
    value(arguments, "--only", only);
    value(arguments, "--jvms", jvms);
    value(arguments, "--json", json);
    if (!threads.isEmpty()) {
      value(
          arguments, "--threads", String.join(",", threads.stream().map(String::valueOf).toList()));
    }
    return arguments;
  }

  private static void flag(List<String> arguments, String name, boolean given) {
    if (given) {
      arguments.add(name);
    }
  }

  private static void value(List<String> arguments, String name, Object value) {
    if (value != null) {
      arguments.addAll(List.of(name, value.toString()));
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private static Path checkout() throws IOException {
    String home = System.getProperty(HOME);
    if (home == null || !Files.isRegularFile(Path.of(home, "peers", "pom.xml"))) {
      throw new IOException(
          "the measurements are built from a checkout of rmsnorm4j: start ./rmsnorm bench there");
    }
    return Path.of(home);
  }

  /** Whether something is missing, or some source is newer than what was built. */
  static boolean isStale(Path checkout, Path classPath) throws IOException {
    if (!Files.isRegularFile(classPath)
        || !Files.isDirectory(checkout.resolve("peers/target/classes"))) {
      return true;
    }
    FileTime built = Files.getLastModifiedTime(classPath);
    for (String part : Files.readString(classPath).strip().split(File.pathSeparator)) {
      if (!Files.exists(Path.of(part))) {
        return true;
      }
    }
    List<Path> sources = new ArrayList<>(List.of(checkout.resolve("pom.xml")));
    for (String module : MODULES) {
      sources.add(checkout.resolve(module).resolve("pom.xml"));
      try (Stream<Path> files = Files.walk(checkout.resolve(module).resolve("src/main"))) {
        files.forEach(sources::add);
      }
    }
    for (Path source : sources) {
      if (Files.getLastModifiedTime(source).compareTo(built) > 0) {
        return true;
      }
    }
    return false;
  }

  private void build(Path checkout, Path classPath) throws IOException, InterruptedException {
    PrintWriter err = spec.commandLine().getErr();
    err.println(
        Files.exists(classPath)
            ? "rmsnorm bench: building the measurements again, since sources have changed"
            : "rmsnorm bench: building the measurements and fetching what they compare with, about"
                + " 190 MB the first time (libtorch, oneDNN, ONNX Runtime)");
    err.flush();
    Path log = Files.createDirectories(classPath.getParent()).resolve("build.log");
    Instant start = Instant.now();
    ProcessBuilder maven =
        new ProcessBuilder(
                "/bin/sh",
                checkout.resolve("mvnw").toString(),
                "-q",
                "-B",
                "-f",
                checkout.resolve("pom.xml").toString(),
                "-Ppeers",
                "-pl",
                "peers",
                "-am",
                "compile",
                "dependency:build-classpath")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    if (run(maven) != 0) {
      try (Stream<String> lines = Files.lines(log)) {
        lines.filter(line -> line.contains("[ERROR]")).limit(ERRORS_SHOWN).forEach(err::println);
      }
      throw new IOException("the build failed; all it said is in " + log);
    }
    // Maven leaves a file alone whose text is the same; what is edited meanwhile is newer.
    Files.setLastModifiedTime(classPath, FileTime.from(start));
  }

  /** To its end, and never longer than this process. */
  private static int run(ProcessBuilder builder) throws IOException, InterruptedException {
    Process process = builder.start();
    Thread end =
        new Thread(
            () -> {
              process.descendants().forEach(ProcessHandle::destroy);
              process.destroy();
            });
    Runtime.getRuntime().addShutdownHook(end);
    int status = process.waitFor();
    Runtime.getRuntime().removeShutdownHook(end);
    return status;
  }
}
