package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import java.util.List;
import java.util.stream.Stream;

/**
 * A system in a contest.
 *
 * @param name as the table has it
 * @param kernel the norm that it computes, or whose variant; null for a copy
 * @param definition what its forward pass must give; null for a copy
 * @param entry makes it ready
 */
record Entrant(String name, Kernel kernel, Definition definition, Entry entry) {
  /** Of a plain norm, or of a copy. */
  Entrant(String name, Kernel kernel, Entry entry) {
    this(name, kernel, kernel == null ? null : Definition.of(kernel), entry);
  }

  /** Everybody who can do it, this library first. */
  static List<Entrant> in(Contest contest) {
    return Stream.of(
            Own.entrants(contest),
            OneDnn.entrants(contest),
            Libtorch.entrants(contest),
            OnnxRuntime.entrants(contest),
            JavaLoop.entrants(contest))
        .flatMap(List::stream)
        .toList();
  }

  /**
   * Has it answer once, and the answer brought to the place, where no older one stands.
   *
   * @throws RuntimeException if it refuses
   */
  void answer(Place place, int threads) {
    place.forget();
    try (Turn turn = entry.ready(place, threads)) {
      turn.run();
      turn.collect();
    }
  }

  /** How a system is made ready. */
  @FunctionalInterface
  interface Entry {
    /** Everything that a caller would do once, so that a turn is only the work itself. */
    Turn ready(Place place, int threads);
  }

  /** A system that is ready: does the work from and to the memory of its place. */
  interface Turn extends AutoCloseable {
    /** One call. */
    void run();

    /** Brings what the last call made to the place, where the system keeps it elsewhere. */
    default void collect() {}

    @Override
    default void close() {}
  }
}
