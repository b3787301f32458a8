package io.github.rmsnorm4j.bench;

import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.measure.ChildOutput;
import io.github.rmsnorm4j.measure.MachineLoad;
import io.github.rmsnorm4j.measure.ModuleBuild;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
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

  /** Measures and prints. Returns the exit status. */
  int run() throws IOException, InterruptedException {
    MachineLoad load = MachineLoad.now();
    CommitLibrary library = CommitLibrary.of(checkout, commit);
    ModuleBuild build = measurements();
    String here = build.classPath(checkout, err);
    requireTitle(program(here, "titles", ""), only);
    String there = classPathOf(here, library.classes(err));
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
    new AgainstTable(library.hash(), old, now, load).lines().forEach(out::println);
    out.flush();
    return 0;
  }

  /** The programs that measure this library alone. */
  static ModuleBuild measurements() {
    return new ModuleBuild(
        "bench",
        List.of("core", "measure", "lab/benchmarks"),
        "target/classes",
        List.of("compile", "dependency:build-classpath"),
        "the measurements",
        "what they need");
  }

  /** Before an hour of builds and rounds. */
  static void requireTitle(List<String> titles, String only) {
    if (titles.stream().noneMatch(title -> title.contains(only))) {
      throw new WrongUseException(
          "--only is '%s', it must be in the title of a contest: %s"
              .formatted(only, String.join("; ", titles)));
    }
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
    for (String line : program(classPath, "times", only)) {
      int blank = line.indexOf(' ');
      times
          .computeIfAbsent(line.substring(blank + 1), _ -> new ArrayList<>())
          .add(Double.parseDouble(line.substring(0, blank)));
    }
  }

  /** The lines of the measuring program. */
  private List<String> program(String classPath, String what, String title)
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
              what,
              result.toString(),
              String.valueOf(quick),
              title);
      if (ModuleBuild.run(jvm.redirectErrorStream(true).redirectOutput(said.toFile())) != 0) {
        throw new IOException(
            "the measurements of this checkout do not run with the library in "
                + classPath.substring(0, classPath.indexOf(File.pathSeparator))
                + ": "
                + cause(ChildOutput.read(said)));
      }
      return Files.readAllLines(result);
    } finally {
      Files.delete(result);
      Files.delete(said);
    }
  }

  /** The line with the cause, of all that a process said: an exception's first, or the last. */
  static String cause(String said) {
    List<String> lines = said.lines().filter(line -> !line.isBlank()).toList();
    return lines.stream()
        .filter(line -> line.startsWith("Exception in thread"))
        .findFirst()
        .orElse(lines.isEmpty() ? "it said nothing" : lines.getLast())
        .strip();
  }
}
