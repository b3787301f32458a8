package io.github.rmsnorm4j.measure;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Builds a module that is no part of the command line from a checkout, where it is not built yet,
 * and fetches what it needs.
 *
 * @param command that it is for
 * @param modules what it is built of, and last the module itself
 * @param product what comes out, below the module's folder
 * @param goals of Maven
 * @param what is built, in words
 * @param fetched what is fetched the first time, in words
 */
public record ModuleBuild(
    String command,
    List<String> modules,
    String product,
    List<String> goals,
    String what,
    String fetched) {
  /** The top folder of the checkout that the launcher belongs to. */
  public static final String HOME = "rmsnorm.home";

  private static final int ERRORS_SHOWN = 5;
  private static final int SECONDS_TO_END = 10;

  /**
   * The checkout that this command line was built from.
   *
   * @return its top folder
   * @throws IOException if it was not built from one
   */
  public Path checkout() throws IOException {
    String home = System.getProperty(HOME);
    if (home == null || !Files.isRegularFile(Path.of(home, modules.getLast(), "pom.xml"))) {
      throw new IOException(
          "needs a checkout of rmsnorm4j, to build %s from: start ./rmsnorm %s there"
              .formatted(what, command));
    }
    return Path.of(home);
  }

  /**
   * Builds what is not built yet.
   *
   * @param checkout its top folder
   * @param err where it is said that it is built
   * @return the class path of what is built
   * @throws IOException if the build fails
   * @throws InterruptedException if this thread is interrupted
   */
  public String classPath(Path checkout, PrintWriter err) throws IOException, InterruptedException {
    if (isStale(checkout)) {
      build(checkout, err);
    }
    return product(checkout) + File.pathSeparator + Files.readString(list(checkout)).strip();
  }

  private Path product(Path checkout) {
    return checkout.resolve(modules.getLast()).resolve(product);
  }

  /** Maven's, of what the product needs. */
  private Path list(Path checkout) {
    return checkout.resolve(modules.getLast()).resolve("target/classpath");
  }

  /** Whether something that the product needs was never fetched, or is gone since. */
  boolean fetches(Path checkout) throws IOException {
    Path list = list(checkout);
    return !Files.isRegularFile(list)
        || Stream.of(Files.readString(list).strip().split(File.pathSeparator))
            .anyMatch(part -> !Files.exists(Path.of(part)));
  }

  /** Whether something is missing, or some source is newer than what was built. */
  boolean isStale(Path checkout) throws IOException {
    if (fetches(checkout) || !Files.exists(product(checkout))) {
      return true;
    }
    FileTime built = Files.getLastModifiedTime(list(checkout));
    List<Path> sources = new ArrayList<>(List.of(checkout.resolve("pom.xml")));
    for (String module : modules) {
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

  private void build(Path checkout, PrintWriter err) throws IOException, InterruptedException {
    Path list = list(checkout);
    err.println(
        fetches(checkout)
            ? "rmsnorm %s: building %s and fetching %s".formatted(command, what, fetched)
            : "rmsnorm %s: building %s again, since sources have changed".formatted(command, what));
    Path log = Files.createDirectories(list.getParent()).resolve("build.log");
    Instant start = Instant.now();
    List<String> arguments = new ArrayList<>(List.of("-pl", modules.getLast(), "-am"));
    arguments.addAll(goals);
    if (!maven(checkout, log, arguments, err)) {
      throw new IOException("the build failed; all it said is in " + log);
    }
    // Maven leaves a file alone whose text is the same; what is edited meanwhile is newer.
    Files.setLastModifiedTime(list, FileTime.from(start));
  }

  /**
   * Runs the checkout's Maven. What it said is in the log; of a failure this shows the errors.
   *
   * @param checkout its top folder
   * @param log the log
   * @param arguments what Maven is asked for
   * @param err where errors are shown
   * @return whether it succeeded
   * @throws IOException if it cannot be started
   * @throws InterruptedException if this thread is interrupted
   */
  public static boolean maven(Path checkout, Path log, List<String> arguments, PrintWriter err)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(List.of("/bin/sh", checkout.resolve("mvnw").toString(), "-q", "-B"));
    command.addAll(List.of("-f", checkout.resolve("pom.xml").toString()));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    if (run(builder.redirectOutput(log.toFile())) == 0) {
      return true;
    }
    List<String> lines = ChildOutput.read(log).lines().toList();
    List<String> errors = lines.stream().filter(line -> line.contains("[ERROR]")).toList();
    // Where Maven itself could not start there are none, and the last lines have the cause.
    (errors.isEmpty()
            ? lines.subList(Math.max(0, lines.size() - ERRORS_SHOWN), lines.size()).stream()
            : errors.stream().limit(ERRORS_SHOWN))
        .forEach(err::println);
    return false;
  }

  /**
   * Runs a process to its end, and never longer than this one.
   *
   * @param builder of the process
   * @return its exit status
   * @throws IOException if it cannot be started
   * @throws InterruptedException if this thread is interrupted
   */
  public static int run(ProcessBuilder builder) throws IOException, InterruptedException {
    return run(builder, errors -> {});
  }

  /**
   * Runs a process to its end, with a listener.
   *
   * @param builder of the process
   * @param listener gets its standard error, and returns at the end of it
   * @return its exit status
   * @throws IOException if it cannot be started
   * @throws InterruptedException if this thread is interrupted
   */
  public static int run(ProcessBuilder builder, Consumer<InputStream> listener)
      throws IOException, InterruptedException {
    Process process = builder.start();
    Thread end = new Thread(() -> end(process));
    Runtime.getRuntime().addShutdownHook(end);
    listener.accept(process.getErrorStream());
    int status = process.waitFor();
    try {
      Runtime.getRuntime().removeShutdownHook(end);
    } catch (IllegalStateException _) {
      // It is at work: this process is being ended.
    }
    return status;
  }

  /** It may have something to put in order before it ends. */
  private static void end(Process process) {
    process.descendants().forEach(ProcessHandle::destroy);
    process.destroy();
    try {
      process.waitFor(SECONDS_TO_END, TimeUnit.SECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
