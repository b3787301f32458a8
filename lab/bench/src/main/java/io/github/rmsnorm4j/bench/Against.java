package io.github.rmsnorm4j.bench;

import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.measure.ChildOutput;
import io.github.rmsnorm4j.measure.ModuleBuild;
import io.github.rmsnorm4j.measure.Samples;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code rmsnorm bench --against}: this library compared with itself at another commit. Both run
 * the measuring program of this checkout. Each round starts a JVM with the library of the commit
 * and one with that of this checkout, in turn.
 *
 * @param checkout its top folder
 * @param commit what Git knows it by
 * @param only a text that each title must have
 * @param rounds how often both take their turn
 * @param quick whether rounds are short, of few shapes
 */
record Against(
    Path checkout,
    String commit,
    String only,
    int rounds,
    boolean quick,
    PrintWriter out,
    PrintWriter err) {
  private static final String PROGRAM = "io.github.rmsnorm4j.benchmarks.MeasureOwn";
  private static final String ROW = "%-40s %12s %12s   %-5s  (%s to %s)";

  /** Measures and prints. Returns the exit status. */
  int run() throws IOException, InterruptedException {
    String hash = hash();
    ModuleBuild build =
        new ModuleBuild(
            "bench",
            List.of("core", "measure", "lab/benchmarks"),
            "target/classes",
            List.of("compile", "dependency:build-classpath"),
            "the measurements",
            "what they need");
    String here = build.classPath(checkout, err);
    String there = classPathOf(here, library(hash));
    Map<String, List<Double>> old = new LinkedHashMap<>();
    Map<String, List<Double>> now = new LinkedHashMap<>();
    for (int round = 1; round <= rounds; round++) {
      err.println("round %s of %s".formatted(round, rounds));
      err.flush();
      // Each is first in every other round.
      boolean oldFirst = round % 2 == 1;
      measure(oldFirst ? there : here, oldFirst ? old : now);
      measure(oldFirst ? here : there, oldFirst ? now : old);
    }
    if (old.isEmpty()) {
      throw new WrongUseException("--only is '" + only + "', it must be in the title of a contest");
    }
    print(hash, old, now);
    return 0;
  }

  private String hash() throws IOException, InterruptedException {
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
      return Files.readString(said).strip();
    } finally {
      Files.delete(said);
    }
  }

  /** The classes of the library at the commit, built in a folder apart and kept there. */
  private Path library(String hash) throws IOException, InterruptedException {
    Path kept = checkout.resolve("lab/bench/target/against").resolve(hash);
    Path classes = kept.resolve("core/target/classes");
    if (Files.isDirectory(kept)) {
      return classes;
    }
    err.println("rmsnorm bench: building the library of " + hash + ", once");
    err.flush();
    Path work = Files.createTempDirectory(Files.createDirectories(kept.getParent()), "build");
    Path log = work.resolveSibling("build.log");
    String copy = "git -C \"$1\" archive \"$2\" | tar -x -C \"$3\"";
    ProcessBuilder copied =
        new ProcessBuilder("sh", "-c", copy, "sh", checkout.toString(), hash, work.toString());
    if (ModuleBuild.run(copied.redirectErrorStream(true).redirectOutput(log.toFile())) != 0) {
      throw new IOException(
          "cannot take " + hash + " out of Git: " + ChildOutput.read(log).strip());
    }
    // Single goals instead of a phase, which would download the test tools bound to it.
    List<String> goals = List.of("-pl", "core", "-am", "resources:resources", "compiler:compile");
    if (!ModuleBuild.maven(work, log, goals, err)) {
      throw new IOException("the library of " + hash + " does not build; all it said is in " + log);
    }
    Files.move(work, kept);
    return classes;
  }

  /** The class path of this checkout with another library in it. */
  private String classPathOf(String here, Path library) throws IOException {
    List<String> parts = new ArrayList<>(List.of(here.split(File.pathSeparator)));
    Path own = checkout.resolve("core/target/classes");
    if (!parts.remove(own.toString())) {
      throw new IOException("the measurements' class path lacks " + own);
    }
    parts.addFirst(library.toString());
    return String.join(File.pathSeparator, parts);
  }

  private void measure(String classPath, Map<String, List<Double>> times)
      throws IOException, InterruptedException {
    Path result = Files.createTempFile("rmsnorm-bench", ".txt");
    Path said = Files.createTempFile("rmsnorm-bench", ".log");
    try {
      ProcessBuilder jvm =
          new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "--add-modules=jdk.incubator.vector",
              "--enable-native-access=ALL-UNNAMED",
              "-cp",
              classPath,
              PROGRAM,
              result.toString(),
              String.valueOf(quick),
              only);
      if (ModuleBuild.run(jvm.redirectErrorStream(true).redirectOutput(said.toFile())) != 0) {
        throw new IOException(
            "the measurements of this checkout do not run with that library: "
                + ChildOutput.read(said).strip());
      }
      for (String line : Files.readAllLines(result)) {
        int blank = line.indexOf(' ');
        times
            .computeIfAbsent(line.substring(blank + 1), _ -> new ArrayList<>())
            .add(Double.parseDouble(line.substring(0, blank)));
      }
    } finally {
      Files.delete(result);
      Files.delete(said);
    }
  }

  private void print(String hash, Map<String, List<Double>> old, Map<String, List<Double>> now) {
    out.println(
        "µs of a call on one thread; old is " + hash.substring(0, 12) + ", new is this checkout.");
    out.println(
        "The ratio is new / old, in brackets its spread over " + rounds + " pairs of JVMs.");
    out.println();
    out.println(ROW.formatted("", "old", "new", "ratio", "lowest", "highest"));
    old.forEach((title, before) -> out.println(row(title, before, now.get(title))));
    out.flush();
  }

  /** The ratio is the median of those of the pairs, each of JVMs that ran one after the other. */
  static String row(String title, List<Double> before, List<Double> after) {
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < before.size(); i++) {
      ratios.add(after.get(i) / before.get(i));
    }
    Samples spread = new Samples(ratios);
    return ROW.formatted(
        title,
        number(Samples.median(before) / 1000),
        number(Samples.median(after) / 1000),
        number(spread.median()),
        number(spread.lowest()),
        number(spread.highest()));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
