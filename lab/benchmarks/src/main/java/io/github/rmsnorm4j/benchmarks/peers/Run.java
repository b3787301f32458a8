package io.github.rmsnorm4j.benchmarks.peers;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * What a run of {@code rmsnorm bench} measures: its contests, its files in docs/benchmarks and its
 * place in docs/performance.md.
 */
public enum Run {
  /** This library and other libraries. */
  PEERS("peers", "PeerTable", Contests::all, PeerTables::of),
  /** This library and the plain loop of a port, in JVMs with and without flags. */
  LOOPS("loops", "LoopTable", Contests::loops, LoopTable::of),
  /** Variants and quantised output of this library, compared with its plain norms. */
  VARIANTS("variants", "VariantTable", Contests::variants, VariantTable::of);

  private final String name;
  private final String section;
  private final Supplier<List<Contest>> contests;
  private final Function<PeerResults, String> tables;

  Run(
      String name,
      String section,
      Supplier<List<Contest>> contests,
      Function<PeerResults, String> tables) {
    this.name = name;
    this.section = section;
    this.contests = contests;
    this.tables = tables;
  }

  /**
   * {@return the run that a file is of, or nothing if it is of no such run}
   *
   * @param file of results
   */
  public static Optional<Run> of(Path file) {
    return Stream.of(values()).filter(run -> file.toString().endsWith(run.ending())).findFirst();
  }

  private String ending() {
    return "-" + name + ".json";
  }

  /**
   * {@return the name of the file in docs/benchmarks: date, processor and the kind of run}
   *
   * @param results of a run of this kind
   */
  public String fileName(PeerResults results) {
    return results.date() + "-" + results.machine().slug() + ending();
  }

  /** {@return the line of docs/performance.md that the tables follow} */
  public String beginning() {
    return "<!-- begin " + section + " -->\n";
  }

  /** {@return all contests} */
  public List<Contest> contests() {
    return contests.get();
  }

  /**
   * {@return all tables as Markdown}
   *
   * @param results of a run of this kind
   */
  public String tables(PeerResults results) {
    return tables.apply(results);
  }
}
