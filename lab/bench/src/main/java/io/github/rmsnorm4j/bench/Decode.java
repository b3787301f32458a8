package io.github.rmsnorm4j.bench;

import io.github.rmsnorm4j.bench.DecodeTable.Column;
import io.github.rmsnorm4j.bench.DecodeTable.Times;
import io.github.rmsnorm4j.measure.ChildOutput;
import io.github.rmsnorm4j.measure.MachineLoad;
import io.github.rmsnorm4j.measure.ModuleBuild;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code rmsnorm bench --decode}: the norms of the first 400 tokens of an engine, and of 3,000
 * prompts, with cold caches, in fresh JVMs. Each round starts one with the plain loop of a port,
 * one with this library without flags, and one with native access.
 *
 * @param width of the rows; null for those that have goals
 * @param only a text that each title must have
 * @param rounds how often all take their turn
 * @param check whether a goal that is missed gives status 1
 */
record Decode(
    Integer width, String only, int rounds, boolean check, PrintWriter out, PrintWriter err) {
  private static final String PROGRAM = "io.github.rmsnorm4j.benchmarks.MeasureDecode";
  private static final int NORMS = 33;
  private static final int TOKENS = 400;

  /** Read before each call. */
  private static final int MEBIBYTES = 4;

  /**
   * A JVM.
   *
   * @param subject what normalises in it, as the program knows it
   */
  private record Start(String title, String subject, List<String> flags) {}

  private static final Start LOOP = new Start("plain loop", "LOOP", List.of());

  private static final List<Start> STARTS =
      List.of(
          new Start("without flags", "OWN", List.of()),
          new Start("with native access", "OWN", List.of("--enable-native-access=ALL-UNNAMED")));

  /** For several rows. */
  private static final Start JAVA_LOOPS = new Start("Java loops chosen", "LOOPS", List.of());

  private static final Map<Column, Double> GOALS =
      Map.of(
          Column.BUILDING, 5.0,
          Column.FIRST, 1.3,
          Column.SOON, 0.7,
          Column.LAST, 0.55,
          Column.ALL, 0.7,
          Column.LONGEST, 0.5,
          Column.PROCESSOR, 1.0);

  /** Calls of one norm with 128 rows: more than those after which a kernel is made. */
  private static final int PROMPTS = 3000;

  /**
   * A kind of call.
   *
   * @param kind as the program knows it
   * @param norms of a token
   * @param goals the most that figures may be
   */
  private record Call(
      String title, String kind, int width, int norms, int tokens, Map<Column, Double> goals) {
    /** The norms of the first tokens of an engine, which have a goal together. */
    Call(String title, String kind, int width, double all) {
      this(title, kind, width, NORMS, TOKENS, Map.of(Column.ALL, all));
    }

    List<Start> starts() {
      List<Start> starts = new ArrayList<>(STARTS);
      if (kind.equals("PROMPT")) {
        starts.add(JAVA_LOOPS);
      }
      return starts;
    }

    /** Another width has no goals. */
    Call ofWidth(int other) {
      String otherTitle = title.replaceFirst("\\d+$", "" + other);
      return new Call(otherTitle, kind, other, norms, tokens, Map.of());
    }
  }

  private static final List<Call> CALLS =
      List.of(
          new Call("RMSNorm 2048", "RMSNORM", 2048, NORMS, TOKENS, GOALS),
          new Call("LayerNorm 2048", "LAYERNORM", 2048, 0.9),
          new Call("residual, RMSNorm 2048", "RESIDUAL", 2048, 0.7),
          new Call("RMSNorm, offset, 2048", "OFFSET", 2048, 0.7),
          new Call("RMSNorm, 2 threads, 2048", "THREADS", 2048, 0.7),
          new Call("RMSNorm 4096", "RMSNORM", 4096, 0.7),
          new Call("RMSNorm 512", "RMSNORM", 512, 0.9),
          new Call("RMSNorm, 8 rows of 128", "HEADS", 128, 1.0),
          new Call("RMSNorm, 128 rows of 64", "PROMPT", 64, 1, PROMPTS, Map.of()),
          new Call("RMSNorm, 128 rows of 512", "PROMPT", 512, 1, PROMPTS, Map.of()),
          new Call(
              "RMSNorm, 128 rows of 4096",
              "PROMPT",
              4096,
              1,
              PROMPTS,
              Map.of(Column.LONGEST, 5.0)));

  /** Measures and prints. Returns the exit status. */
  int run() throws IOException, InterruptedException {
    List<Call> calls = calls();
    Against.requireTitle(calls.stream().map(Call::title).toList(), only);
    MachineLoad load = MachineLoad.now();
    ModuleBuild build = Against.measurements();
    String classPath = build.classPath(build.checkout(), err);
    out.println(
        ("%s norms a token (128 rows: 1), %s MiB read between calls,"
                + " medians of %s rounds of fresh JVMs.")
            .formatted(NORMS, MEBIBYTES, rounds));
    out.println(
        "Milliseconds of the loop; this library in multiples of it, building and longest in ms.");
    List<String> missed = new ArrayList<>();
    for (Call call : calls) {
      if (call.title.contains(only)) {
        measure(call, classPath, missed);
      }
    }
    if (!load.warning().isEmpty()) {
      out.println("\n" + load.warning());
    }
    missed.forEach(out::println);
    out.flush();
    return check && !missed.isEmpty() ? 1 : 0;
  }

  private List<Call> calls() {
    return width == null
        ? CALLS
        : CALLS.stream().map(call -> call.ofWidth(width)).distinct().toList();
  }

  private void measure(Call call, String classPath, List<String> missed)
      throws IOException, InterruptedException {
    List<Times> loop = new ArrayList<>();
    Map<String, List<Times>> own = new LinkedHashMap<>();
    for (int round = 1; round <= rounds; round++) {
      err.println("%s: round %s of %s".formatted(call.title, round, rounds));
      err.flush();
      loop.add(times(call, classPath, LOOP));
      for (Start start : call.starts()) {
        own.computeIfAbsent(start.title, _ -> new ArrayList<>()).add(times(call, classPath, start));
      }
    }
    out.println();
    DecodeTable.lines(call.title, loop, own).forEach(out::println);
    out.flush();
    STARTS.forEach(start -> missed.addAll(missed(call, start.title, own.get(start.title), loop)));
  }

  private static List<String> missed(Call call, String start, List<Times> own, List<Times> loop) {
    List<String> missed = new ArrayList<>();
    for (Column column : Column.values()) {
      Double most = call.goals.get(column);
      double figure = DecodeTable.figure(column, own, loop);
      if (most != null && figure > most) {
        missed.add(
            "missed: %s, %s, %s is %s, the goal is %s"
                .formatted(
                    call.title,
                    start,
                    column.title(),
                    DecodeTable.number(figure),
                    DecodeTable.number(most)));
      }
    }
    return missed;
  }

  private static Times times(Call call, String classPath, Start start)
      throws IOException, InterruptedException {
    Path result = Files.createTempFile("rmsnorm-bench", ".txt");
    Path said = Files.createTempFile("rmsnorm-bench", ".log");
    try {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(start.flags);
      command.addAll(List.of("-cp", classPath, PROGRAM, result.toString()));
      command.addAll(List.of(start.subject, call.kind));
      command.addAll(List.of("" + call.width, "" + call.norms, "" + call.tokens, "" + MEBIBYTES));
      ProcessBuilder jvm = new ProcessBuilder(command);
      if (ModuleBuild.run(jvm.redirectErrorStream(true).redirectOutput(said.toFile())) != 0) {
        throw new IOException(call.title + ": " + Against.cause(ChildOutput.read(said)));
      }
      return Times.of(Files.readAllLines(result), call.norms);
    } finally {
      Files.delete(result);
      Files.delete(said);
    }
  }
}
