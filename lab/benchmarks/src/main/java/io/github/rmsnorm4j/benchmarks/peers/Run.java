package io.github.rmsnorm4j.benchmarks.peers;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/** What a run of {@code rmsnorm bench} measures, and the tables of its results. */
public enum Run {
  /** This library and other libraries. */
  PEERS(Contests::all, PeerTables::of),
  /** This library and the plain loop of a port, in JVMs with and without flags. */
  LOOPS(Contests::loops, LoopTable::of),
  /** Variants and quantized output of this library, compared with its plain norms. */
  VARIANTS(Contests::variants, VariantTable::of);

  private final Supplier<List<Contest>> contests;
  private final Function<PeerResults, String> tables;

  Run(Supplier<List<Contest>> contests, Function<PeerResults, String> tables) {
    this.contests = contests;
    this.tables = tables;
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
