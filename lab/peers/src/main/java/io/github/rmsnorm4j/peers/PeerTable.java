package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Contests;
import io.github.rmsnorm4j.benchmarks.peers.KeptResults;
import io.github.rmsnorm4j.benchmarks.peers.KernelKind;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.Run;
import io.github.rmsnorm4j.benchmarks.peers.Start;
import io.github.rmsnorm4j.benchmarks.peers.TargetTable;
import io.github.rmsnorm4j.benchmarks.peers.TerminalText;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.MachineLoad;
import io.github.rmsnorm4j.measure.SourceCommit;
import java.io.IOException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.ParameterException;

/** Measures this library and others; {@code rmsnorm bench} starts it. */
public final class PeerTable {
  private static final String LEGEND =
      "Behind a time stands this library's time, divided by it. (!) marks a missed target or a wrong"
          + " answer.\n";

  private static final String LOOPS_LEGEND =
      "In the table of the plain loop the ratios are this library's times in three kinds of JVMs,"
          + " each divided by the loop's. (!) marks a missed target.\n";

  private static final String VARIANTS_LEGEND =
      "In the tables of variants a ratio is the time of the first divided by that of the second."
          + " Behind it stands its target. (!) marks a missed target.\n";

  private final List<Contest> contests;
  private final PeerOptions options;

  PeerTable(PeerOptions options) {
    this.options = options;
    List<Contest> all = options.traps ? List.of() : options.run().contests();
    contests = wanted(all);
    if (contests.isEmpty() && !options.traps) {
      throw new IllegalArgumentException(
          "no contest%s contains '%s'; there are %s"
              .formatted(
                  options.quick ? " of a quick run" : "",
                  options.only,
                  String.join(", ", all.stream().map(Contest::toString).toList())));
    }
  }

  /** Those that --only leaves and, if it is quick, that are. */
  private List<Contest> wanted(List<Contest> all) {
    return all.stream()
        .filter(contest -> contest.toString().contains(options.only))
        .filter(contest -> !options.quick || Contests.isQuick(contest))
        .toList();
  }

  /**
   * Measures, prints, writes and checks, as it is asked to.
   *
   * @param args see {@code rmsnorm bench --help}
   */
  public static void main(String[] args) {
    int status;
    try {
      status = new PeerTable(PeerOptions.of(args)).run();
    } catch (IllegalArgumentException | ParameterException e) {
      System.err.println("rmsnorm bench: " + e.getMessage());
      status = 2;
    } catch (IOException e) {
      System.err.println("rmsnorm bench: " + e); // Of many the message is only a file's name.
      status = 1;
    }
    System.exit(status); // libtorch leaves threads behind
  }

  private int run() throws IOException {
    MachineLoad load = MachineLoad.now();
    PeerResults results = measure();
    String notes = notes(options, load);
    TerminalText.of(options.run().tables(results) + notes).forEach(System.out::println);
    if (options.json != null) {
      results.write(options.json);
    }
    if (options.write) {
      System.out.println("wrote " + KeptResults.keep(options.checkout, options.run(), results));
      if (options.run() == Run.PEERS) {
        System.out.println("its first table belongs in docs/performance.md, too");
      }
    }
    return options.check ? check(new TargetTable(results)) : 0;
  }

  /** What a reader must know of the figures: what they are, and what they are not worth. */
  static String notes(PeerOptions options, MachineLoad load) {
    if (options.traps) {
      return "(!) marks a wrong answer.\n";
    }
    String notes =
        switch (options.run()) {
          case PEERS -> LEGEND;
          case LOOPS -> LOOPS_LEGEND;
          case VARIANTS -> VARIANTS_LEGEND;
        };
    if (options.quick) {
      notes +=
          "\nThis was a quick run, of short rounds and few shapes: do not quote its figures.\n";
    }
    if (!load.warning().isEmpty()) {
      notes += "\n" + load.warning() + "\n";
    }
    return notes;
  }

  private static int check(TargetTable targets) {
    targets.missed().forEach(missed -> System.err.println("rmsnorm bench: missed: " + missed));
    if (targets.judged() == 0) {
      System.err.println("rmsnorm bench: --check found no target among what was measured");
      return 1;
    }
    return targets.missed().isEmpty() ? 0 : 1;
  }

  private PeerResults measure() throws IOException {
    boolean traps = options.traps || options.measuresAll();
    if (traps) {
      System.err.println("traps");
    }
    List<Figure> figures = figures();
    return new PeerResults(
        LocalDate.now().toString(),
        SourceCommit.of(options.checkout),
        Machine.thisOne(Backend.best()).withoutFlags(List.of("-Dorg.bytedeco.")),
        Versions.of(options.run()),
        figures,
        traps ? Traps.run() : List.of(),
        traps ? Changes.run() : List.of());
  }

  private List<Figure> figures() throws IOException {
    List<Figure> figures = new ArrayList<>();
    for (int jvm = 1; jvm <= options.jvms; jvm++) {
      for (Contest contest : contests) {
        for (Jvm measured : jvms()) {
          System.err.printf(
              "JVM %s of %s, contest %s of %s, %s: %s%n",
              jvm,
              options.jvms,
              contests.indexOf(contest) + 1,
              contests.size(),
              measured.title,
              contest);
          figures.addAll(measured.program.measure(contest));
        }
      }
    }
    return figures;
  }

  /**
   * The JVMs that measure a contest, in turn: a machine that slows down for a minute slows all of
   * them.
   */
  private List<Jvm> jvms() {
    boolean quick = options.quick;
    return switch (options.run()) {
      case PEERS ->
          (quick || options.polluted ? Stream.of(true) : Stream.of(false, true))
              .map(
                  polluted ->
                      new Jvm(
                          polluted ? "mixed workload" : "isolated",
                          contest ->
                              MeasureContest.inFreshJvm(contest, options.threads, polluted, quick)))
              .toList();
      case LOOPS ->
          Stream.of(Start.values())
              .map(
                  start ->
                      new Jvm(
                          "plain loop and library " + start.title(),
                          contest -> List.of(MeasureLoop.inFreshJvm(contest, start, quick))))
              .toList();
      case VARIANTS ->
          KernelKind.here().stream()
              .map(
                  kind ->
                      new Jvm(
                          "variants " + kind.title(),
                          contest -> List.of(MeasureVariants.inFreshJvm(contest, kind, quick))))
              .toList();
    };
  }

  private record Jvm(String title, Program program) {}

  /** Measures a contest in a JVM of its own. */
  private interface Program {
    List<Figure> measure(Contest contest) throws IOException;
  }
}
