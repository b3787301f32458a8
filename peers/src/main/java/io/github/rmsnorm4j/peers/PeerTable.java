package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.benchmarks.PerformancePage;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Contests;
import io.github.rmsnorm4j.benchmarks.peers.LoopTable;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.PeerTables;
import io.github.rmsnorm4j.benchmarks.peers.Start;
import io.github.rmsnorm4j.benchmarks.peers.TargetTable;
import io.github.rmsnorm4j.benchmarks.peers.TerminalText;
import io.github.rmsnorm4j.measure.Machine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ParameterException;

/** Measures this library and others; {@code rmsnorm bench} starts it. */
public final class PeerTable {
  private static final String LEGEND =
      "Behind a time stands this library's time, divided by it. (!) marks a missed target or a wrong"
          + " answer.\n";

  private static final String LOOPS_LEGEND =
      "In the table of the plain loop the ratios are this library's times in three kinds of JVMs,"
          + " each divided by the loop's. (!) marks a missed target.\n";

  /** With other systems. */
  private final List<Contest> contests;

  /** With a plain loop alone, in JVMs with and without flags. */
  private final List<Contest> loops;

  private final PeerOptions options;

  PeerTable(PeerOptions options) {
    this.options = options;
    contests = options.traps || options.loops ? List.of() : wanted(Contests.all());
    loops = options.loops ? wanted(Contests.loops()) : List.of();
    if (contests.isEmpty() && loops.isEmpty() && !options.traps) {
      List<Contest> all = options.loops ? Contests.loops() : Contests.all();
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
    PerformancePage page = options.write ? new PerformancePage(options.checkout) : null;
    OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
    double load = system.getSystemLoadAverage();
    PeerResults results = measure();
    String notes = notes(options, load, system.getAvailableProcessors());
    String tables = options.loops ? LoopTable.of(results) : PeerTables.of(results);
    TerminalText.of(tables + notes).forEach(System.out::println);
    if (options.json != null) {
      results.write(options.json);
    }
    if (page != null) {
      System.out.println("wrote docs/performance.md and " + page.add(results));
    }
    return options.check ? check(new TargetTable(results)) : 0;
  }

  /** What a reader must know of the figures: what they are, and what they are not worth. */
  static String notes(PeerOptions options, double load, int processors) {
    if (options.traps) {
      return "(!) marks a wrong answer.\n";
    }
    String notes = options.loops ? LOOPS_LEGEND : LEGEND;
    if (options.quick) {
      notes +=
          "\nThis was a quick run, of short rounds and few shapes: do not quote its figures.\n";
    }
    if (load > processors / 2.0) {
      notes +=
          String.format(
              Locale.ROOT,
              "%nThe machine was busy: at the start its load was %.1f, with %s processors. Do not"
                  + " trust these figures.%n",
              load,
              processors);
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
    figures.addAll(loops());
    return new PeerResults(
        LocalDate.now().toString(),
        Machine.thisOne(Backend.best()).withoutFlags(List.of("-Dorg.bytedeco.")),
        options.loops ? List.of() : Versions.all(),
        figures,
        traps ? Traps.run() : List.of(),
        traps ? Changes.run() : List.of());
  }

  private List<Figure> loops() throws IOException {
    List<Figure> figures = new ArrayList<>();
    for (int jvm = 1; jvm <= options.jvms; jvm++) {
      for (Contest contest : loops) {
        System.err.printf(
            "JVM %s of %s, plain loop, contest %s of %s: %s%n",
            jvm, options.jvms, loops.indexOf(contest) + 1, loops.size(), contest);
        for (Start start : Start.values()) {
          figures.add(MeasureLoop.inFreshJvm(contest, start, options.quick));
        }
      }
    }
    return figures;
  }

  /**
   * Isolated and with a mixed workload in turn: a machine that slows down for a minute slows both.
   */
  private List<Figure> figures() throws IOException {
    List<Boolean> states = options.quick || options.polluted ? List.of(true) : List.of(false, true);
    List<Figure> figures = new ArrayList<>();
    for (int jvm = 1; jvm <= options.jvms; jvm++) {
      for (Contest contest : contests) {
        for (boolean polluted : states) {
          System.err.printf(
              "JVM %s of %s, contest %s of %s, %s: %s%n",
              jvm,
              options.jvms,
              contests.indexOf(contest) + 1,
              contests.size(),
              polluted ? "mixed workload" : "isolated",
              contest);
          figures.addAll(
              MeasureContest.inFreshJvm(contest, options.threads, polluted, options.quick));
        }
      }
    }
    return figures;
  }
}
