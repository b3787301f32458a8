package io.github.rmsnorm4j.bench;

import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.measure.ChildOutput;
import io.github.rmsnorm4j.measure.ModuleBuild;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The library at another commit of a checkout.
 *
 * @param checkout its top folder
 * @param hash of the commit
 */
record CommitLibrary(Path checkout, String hash) {
  private static final String WORK = "build";
  private static final Duration KEPT = Duration.ofDays(1);

  /**
   * Asks Git.
   *
   * @param commit what Git knows it by
   * @throws WrongUseException if Git does not know it
   */
  static CommitLibrary of(Path checkout, String commit) throws IOException, InterruptedException {
    Path said = Files.createTempFile("rmsnorm-bench", ".txt");
    try {
      ProcessBuilder git =
          new ProcessBuilder(
              "git",
              "-C",
              checkout.toString(),
              "rev-parse",
              "--verify",
              "-q",
              "--end-of-options",
              commit + "^{commit}");
      if (ModuleBuild.run(git.redirectOutput(said.toFile())) != 0) {
        throw new WrongUseException(
            "--against is '" + commit + "', it must be a commit of this checkout");
      }
      return new CommitLibrary(checkout, Files.readString(said).strip());
    } finally {
      Files.delete(said);
    }
  }

  /** {@return the classes, built in a folder apart and kept there} */
  Path classes(PrintWriter err) throws IOException, InterruptedException {
    Path kept = checkout.resolve("lab/bench/target/against").resolve(hash);
    if (!Files.isDirectory(kept)) {
      err.println("rmsnorm bench: building the library of " + hash + ", once");
      err.flush();
      build(kept, err);
    }
    return kept.resolve("core/target/classes");
  }

  private void build(Path kept, PrintWriter err) throws IOException, InterruptedException {
    Path folder = Files.createDirectories(kept.getParent());
    deleteLeftovers(folder);
    Path work = Files.createTempDirectory(folder, WORK);
    Path log = work.resolve("build.log");
    String copy =
        "git -C \"$1\" archive -o \"$3/sources.tar\" \"$2\" &&"
            + " tar -x -C \"$3\" -f \"$3/sources.tar\" && rm \"$3/sources.tar\"";
    ProcessBuilder copied =
        new ProcessBuilder("sh", "-c", copy, "sh", checkout.toString(), hash, work.toString());
    if (ModuleBuild.run(copied.redirectErrorStream(true).redirectOutput(log.toFile())) != 0) {
      throw new IOException(
          "cannot take " + hash + " out of Git: " + Against.cause(ChildOutput.read(log)));
    }
    // Single goals instead of a phase, which would download the test tools bound to it.
    List<String> goals = List.of("-pl", "core", "-am", "resources:resources", "compiler:compile");
    if (!ModuleBuild.maven(work, log, goals, err)) {
      throw new IOException("the library of " + hash + " does not build; all it said is in " + log);
    }
    keep(work, kept);
  }

  /** Another start may have built the same meanwhile. Then its folder is taken. */
  static void keep(Path work, Path kept) throws IOException {
    try {
      Files.move(work, kept);
    } catch (FileSystemException e) {
      if (!Files.isDirectory(kept)) {
        throw e;
      }
      delete(work);
    }
  }

  /** Of builds that were ended or failed. A younger one may still be at work. */
  static void deleteLeftovers(Path folder) throws IOException {
    Instant limit = Instant.now().minus(KEPT);
    List<Path> builds;
    try (Stream<Path> files = Files.list(folder)) {
      builds = files.filter(file -> file.getFileName().toString().startsWith(WORK)).toList();
    }
    for (Path build : builds) {
      if (Files.getLastModifiedTime(build).toInstant().isBefore(limit)) {
        delete(build);
      }
    }
  }

  private static void delete(Path folder) throws IOException {
    List<Path> files;
    try (Stream<Path> walk = Files.walk(folder)) {
      files = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path file : files) {
      Files.deleteIfExists(file);
    }
  }
}
