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
import java.util.stream.Stream;

/** Builds the measurements beside other libraries from a checkout, where they are not built yet. */
final class PeersBuild {
  private static final List<String> MODULES = List.of("core", "measure", "benchmarks", "peers");
  private static final int ERRORS_SHOWN = 5;

  private final Path checkout;
  private final PrintWriter err;
  private final Path classes;

  /** Maven's, of what the classes need. */
  private final Path list;

  PeersBuild(Path checkout, PrintWriter err) {
    this.checkout = checkout;
    this.err = err;
    classes = checkout.resolve("peers/target/classes");
    list = checkout.resolve("peers/target/classpath");
  }

  /** The class path of what is built, after it was. */
  String classPath() throws IOException, InterruptedException {
    if (isStale()) {
      build();
    }
    return classes + File.pathSeparator + Files.readString(list).strip();
  }

  /** Whether something is missing, or some source is newer than what was built. */
  boolean isStale() throws IOException {
    if (!Files.isRegularFile(list) || !Files.isDirectory(classes)) {
      return true;
    }
    FileTime built = Files.getLastModifiedTime(list);
    for (String part : Files.readString(list).strip().split(File.pathSeparator)) {
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

  private void build() throws IOException, InterruptedException {
    err.println(
        Files.exists(list)
            ? "rmsnorm bench: building the measurements again, since sources have changed"
            : "rmsnorm bench: building the measurements and fetching what they compare with, about"
                + " 190 MB the first time (libtorch, oneDNN, ONNX Runtime)");
    err.flush();
    Path log = Files.createDirectories(list.getParent()).resolve("build.log");
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
    Files.setLastModifiedTime(list, FileTime.from(start));
  }

  /** To its end, and never longer than this process. */
  static int run(ProcessBuilder builder) throws IOException, InterruptedException {
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
