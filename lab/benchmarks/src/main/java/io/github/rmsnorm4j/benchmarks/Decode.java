package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.benchmarks.DecodeResults.Call;
import io.github.rmsnorm4j.benchmarks.DecodeResults.Start;
import io.github.rmsnorm4j.benchmarks.DecodeTable.Column;
import io.github.rmsnorm4j.benchmarks.DecodeTable.Times;
import io.github.rmsnorm4j.benchmarks.MeasureDecode.Competitor;
import io.github.rmsnorm4j.benchmarks.peers.KeptResults;
import io.github.rmsnorm4j.measure.ChildJvm;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.MachineLoad;
import io.github.rmsnorm4j.measure.SourceCommit;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * {@code rmsnorm bench --decode}: the norms of the first 400 tokens of an engine, and of 3,000
 * prompts, with cold caches, in fresh JVMs. Each round starts one with the plain loop of a port,
 * one with this library without flags, and one with native access.
 */
public final class Decode {
  private static final int NORMS = 33;
  private static final int TOKENS = 400;

  /** Read before each call. */
  private static final int MEBIBYTES = 4;

  /**
   * A JVM.
   *
   * @param subject what normalizes in it, as the program knows it
   */
  private record Jvm(String title, Competitor subject, List<String> flags) {}

  private static final Jvm LOOP = new Jvm("plain loop", Competitor.LOOP, List.of());

  private static final List<Jvm> JVMS =
      List.of(
          new Jvm("without flags", Competitor.OWN, List.of()),
          new Jvm(
              "with native access", Competitor.OWN, List.of("--enable-native-access=ALL-UNNAMED")));

  /** For several rows. */
  private static final Jvm JAVA_LOOPS = new Jvm("Java loops chosen", Competitor.LOOPS, List.of());

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
  private record Decoding(
      String title, String kind, int width, int norms, int tokens, Map<Column, Double> goals) {
    /** The norms of the first tokens of an engine, which have a goal together. */
    Decoding(String title, String kind, int width, double all) {
      this(title, kind, width, NORMS, TOKENS, Map.of(Column.ALL, all));
    }

    /** The loop first. */
    List<Jvm> jvms() {
      List<Jvm> jvms = new ArrayList<>(List.of(LOOP));
      jvms.addAll(JVMS);
      if (kind.equals("PROMPT")) {
        jvms.add(JAVA_LOOPS);
      }
      return jvms;
    }

    /** Another width has no goals. */
    Decoding ofWidth(int other) {
      String otherTitle = title.replaceFirst("\\d+$", "" + other);
      return new Decoding(otherTitle, kind, other, norms, tokens, Map.of());
    }
  }

  private static final List<Decoding> ALL =
      List.of(
          new Decoding("RMSNorm 2048", "RMSNORM", 2048, NORMS, TOKENS, GOALS),
          new Decoding("LayerNorm 2048", "LAYERNORM", 2048, 0.9),
          new Decoding("residual, RMSNorm 2048", "RESIDUAL", 2048, 0.7),
          new Decoding("RMSNorm, offset, 2048", "OFFSET", 2048, 0.7),
          new Decoding("RMSNorm, 2 threads, 2048", "THREADS", 2048, 0.7),
          new Decoding("RMSNorm 4096", "RMSNORM", 4096, 0.7),
          new Decoding("RMSNorm 512", "RMSNORM", 512, 0.9),
          new Decoding("RMSNorm, 8 rows of 128", "HEADS", 128, 1.0),
          new Decoding("RMSNorm, 128 rows of 64", "PROMPT", 64, 1, PROMPTS, Map.of()),
          new Decoding("RMSNorm, 128 rows of 512", "PROMPT", 512, 1, PROMPTS, Map.of()),
          new Decoding(
              "RMSNorm, 128 rows of 4096",
              "PROMPT",
              4096,
              1,
              PROMPTS,
              Map.of(Column.LONGEST, 5.0)));

  private final Path checkout;
  private final int rounds;
  private final List<Decoding> kinds;

  private Decode(Path checkout, int rounds, List<Decoding> kinds) {
    this.checkout = checkout;
    this.rounds = rounds;
    this.kinds = kinds;
  }

  /**
   * Measures, prints, and ends with status 1 if a goal is missed and {@code check} is given.
   *
   * @param args the checkout, how often all take their turn, the width of the rows or 0 for those
   *     that have goals, a text that each title must have, then any of {@code check} and {@code
   *     write}
   * @throws IOException if a program fails, or a file cannot be written
   */
  public static void main(String[] args) throws IOException {
    List<Decoding> kinds = kinds(Integer.parseInt(args[2]), args[3]);
    if (kinds.isEmpty()) {
      System.err.printf(
          "rmsnorm bench: --only is '%s', it must be in the title of a call: %s%n",
          args[3], String.join("; ", ALL.stream().map(Decoding::title).toList()));
      System.exit(2);
    }
    List<String> flags = List.of(args).subList(4, args.length);
    Decode decode = new Decode(Path.of(args[0]), Integer.parseInt(args[1]), kinds);
    DecodeResults results = decode.measure();
    List<String> missed = decode.missed(results);
    missed.forEach(System.out::println);
    if (flags.contains("write")) {
      System.out.println("wrote " + KeptResults.keep(decode.checkout, results));
    }
    System.exit(flags.contains("check") && !missed.isEmpty() ? 1 : 0);
  }

  /** Of a width, or of all that have goals. */
  static List<Decoding> kinds(int width, String only) {
    return ALL.stream()
        .map(kind -> width == 0 ? kind : kind.ofWidth(width))
        .distinct()
        .filter(kind -> kind.title.contains(only))
        .toList();
  }

  private DecodeResults measure() throws IOException {
    MachineLoad load = MachineLoad.now();
    System.out.printf(
        "%s norms a token (128 rows: 1), %s MiB read between calls, medians of %s rounds of fresh"
            + " JVMs.%n",
        NORMS, MEBIBYTES, rounds);
    System.out.println(
        "Milliseconds of the loop; this library in multiples of it, building and longest in ms.");
    List<Call> calls = new ArrayList<>();
    for (Decoding kind : kinds) {
      Call call = measure(kind);
      System.out.println();
      DecodeTable.lines(call).forEach(System.out::println);
      calls.add(call);
    }
    if (!load.warning().isEmpty()) {
      System.out.println("\n" + load.warning());
    }
    return new DecodeResults(
        LocalDate.now().toString(),
        SourceCommit.of(checkout),
        Machine.thisOne(Backend.best()),
        calls);
  }

  private Call measure(Decoding kind) throws IOException {
    List<Start> starts = new ArrayList<>();
    kind.jvms().forEach(jvm -> starts.add(new Start(jvm.title, new ArrayList<>())));
    for (int round = 1; round <= rounds; round++) {
      System.err.printf("%s: round %s of %s%n", kind.title, round, rounds);
      for (int jvm = 0; jvm < starts.size(); jvm++) {
        starts.get(jvm).rounds().add(times(kind, kind.jvms().get(jvm)).columns());
      }
    }
    return new Call(kind.title, starts);
  }

  private static Times times(Decoding kind, Jvm jvm) throws IOException {
    List<String> arguments =
        List.of(
            jvm.subject.name(),
            kind.kind,
            "" + kind.width,
            "" + kind.norms,
            "" + kind.tokens,
            "" + MEBIBYTES);
    String lines = ChildJvm.call(MeasureDecode.class, jvm.flags, arguments);
    return Times.of(lines.lines().toList(), kind.norms);
  }

  private List<String> missed(DecodeResults results) {
    List<String> missed = new ArrayList<>();
    for (int i = 0; i < kinds.size(); i++) {
      Call call = results.calls().get(i);
      // The loops that were chosen have no goal.
      for (Start own : call.starts().subList(1, 1 + JVMS.size())) {
        kinds.get(i).goals.forEach((column, most) -> judge(call, own, column, most, missed));
      }
    }
    return missed;
  }

  private static void judge(Call call, Start own, Column column, double most, List<String> missed) {
    double figure = DecodeTable.figure(column, own, call.starts().getFirst());
    if (figure > most) {
      missed.add(
          "missed: %s, %s, %s is %s, the goal is %s"
              .formatted(
                  call.title(),
                  own.title(),
                  column.title(),
                  DecodeTable.number(figure),
                  DecodeTable.number(most)));
    }
  }
}
