package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.SourceCommit;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the norms as multiples of a memory copy and prints the table of docs/performance.md. The
 * page says how to start it and how to read what it prints.
 */
public final class SpeedTable {
  private static final String USAGE =
      """
      SpeedTable [--write] [--quick] [--bits N] [--alone | --polluted] [--only TEXT]
        --write      keep the results in docs/benchmarks and make docs/performance.md again
        --page       only make docs/performance.md and the figures of all pages again, from docs/benchmarks
        --quick      a few seconds per part; the figures mean little
        --bits N     vectors of 128, 256 or 512 bits instead of the machine's own
        --alone      only the norms, each in a JVM of its own
        --polluted   only the norms, after everything else has been through their JVM
        --only TEXT  only the norms whose row in the table contains TEXT
      """;

  /** The compiler does not make the same code in every JVM. */
  private static final int JVMS = 3;

  private boolean write;
  private boolean page;
  private boolean quick;
  private boolean alone = true;
  private boolean polluted = true;
  private String only = "";
  private int bits;

  SpeedTable(String... args) {
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--write" -> write = true;
        case "--page" -> page = true;
        case "--quick" -> quick = true;
        case "--alone" -> polluted = false;
        case "--polluted" -> alone = false;
        case "--bits" -> bits = bits(value(args, ++i));
        case "--only" -> only = value(args, ++i);
        default -> throw new IllegalArgumentException("unknown: " + args[i] + "\n" + USAGE);
      }
    }
    if (write && (quick || !isWhole())) {
      throw new IllegalArgumentException("--write takes a whole run: only --bits goes with it");
    }
  }

  private static String value(String[] args, int i) {
    if (i == args.length) {
      throw new IllegalArgumentException(args[i - 1] + " takes a value\n" + USAGE);
    }
    return args[i];
  }

  private static int bits(String value) {
    if (!List.of("128", "256", "512").contains(value)) {
      throw new IllegalArgumentException("--bits is " + value + ", it may be 128, 256 or 512");
    }
    return Integer.parseInt(value);
  }

  private boolean isWhole() {
    return alone && polluted && only.isEmpty();
  }

  /**
   * Measures, prints, and writes if asked to.
   *
   * @param args see the usage that an unknown option prints
   * @throws IOException if a file cannot be read or written, or a process that measures fails
   */
  public static void main(String[] args) throws IOException {
    try {
      new SpeedTable(args).run();
    } catch (IllegalArgumentException | UnsupportedOperationException e) {
      System.err.println("SpeedTable: " + e.getMessage());
      System.exit(2);
    }
  }

  private void run() throws IOException {
    if (page) {
      new PerformancePage(Path.of("")).refresh();
      return;
    }
    PerformancePage target = write ? new PerformancePage(Path.of("")) : null;
    Results results = measure(backend());
    System.out.println(Table.of(results));
    if (write) {
      System.out.println("wrote docs/performance.md and " + target.add(results));
    }
  }

  private Backend backend() {
    Backend best = Backend.best();
    if (best.vectorBits() == 0) {
      throw new UnsupportedOperationException("no vectors to measure: " + best.reason());
    }
    if (bits > best.vectorBits()) {
      throw new IllegalArgumentException(
          "--bits is " + bits + ", this machine's vectors have " + best.vectorBits());
    }
    return bits == 0 ? best : withVectorsOf(bits);
  }

  /** The fastest kernels with vectors of a width: machine code where it is there. */
  static Backend withVectorsOf(int bits) {
    boolean machineCode = Backend.hasMachineCode() && bits > 128;
    return machineCode ? Backend.machineCode(bits) : Backend.vector(bits);
  }

  private Results measure(Backend backend) throws IOException {
    int width = backend.vectorBits();
    List<Row> rows = Row.all(width).stream().filter(row -> row.title().contains(only)).toList();
    if (rows.isEmpty()) {
      throw new IllegalArgumentException("no row of the table contains '" + only + "'");
    }
    List<Results.Figure> figures = norms(rows, width);
    return new Results(
        LocalDate.now().toString(),
        SourceCommit.of(Path.of("")),
        Machine.thisOne(backend),
        figures,
        threads(width),
        coldStarts());
  }

  /**
   * Isolated and with a mixed workload in turn: a machine that slows down for a minute slows both.
   */
  private List<Results.Figure> norms(List<Row> rows, int width) throws IOException {
    List<Results.Figure> figures = new ArrayList<>();
    for (int jvm = 1; jvm <= (quick ? 1 : JVMS); jvm++) {
      for (Row row : alone ? rows : List.<Row>of()) {
        System.err.println("isolated, JVM " + jvm + ": " + row.title());
        figures.addAll(MeasureRows.inFreshJvm(List.of(row), width, false, quick));
      }
      if (polluted) {
        System.err.println("mixed workload, JVM " + jvm + ": all rows");
        figures.addAll(MeasureRows.inFreshJvm(rows, width, true, quick));
      }
    }
    return figures;
  }

  private List<Results.ThreadTimes> threads(int width) throws IOException {
    if (!isWhole() || Runtime.getRuntime().availableProcessors() == 1) {
      return List.of();
    }
    System.err.println("two threads");
    return MeasureThreads.inFreshJvm(width, quick);
  }

  private List<Results.ColdStart> coldStarts() throws IOException {
    if (!isWhole()) {
      return List.of();
    }
    System.err.println("cold starts");
    return MeasureColdStart.inFreshJvms(quick);
  }
}
