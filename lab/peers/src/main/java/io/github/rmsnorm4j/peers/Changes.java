package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Change;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Whether a row's answer depends on the number of threads, or on the rows that came with it. */
final class Changes {
  private static final int ROWS = 300;
  private static final int WIDTH = 1000;

  private Changes() {}

  /** Every system, forward and backward. A system that refuses is left out. */
  static List<Change> run() {
    List<Change> changes = new ArrayList<>();
    for (Kernel kernel : Kernel.values()) {
      for (Contest contest :
          List.of(Contest.forward(kernel, ROWS, WIDTH), Contest.backward(kernel, ROWS, WIDTH))) {
        for (Entrant entrant : Entrant.in(contest)) {
          if (entrant.kernel() == kernel && !entrant.name().equals(Systems.IN_PLACE)) {
            changes.addAll(of(contest, entrant));
          }
        }
      }
    }
    return changes;
  }

  private static List<Change> of(Contest contest, Entrant entrant) {
    List<Change> changes = new ArrayList<>();
    try (Arena arena = Arena.ofShared()) {
      int[] one = answer(contest, entrant, 1, arena);
      int[] two = answer(contest, entrant, 2, arena);
      changes.add(change(contest, entrant, contest + ": one thread and two", one, two));
      Contest alone = new Contest(contest.kernel(), contest.backward(), contest.type(), 1, WIDTH);
      int[] row = Arrays.copyOf(answer(alone, entrant, 1, arena), WIDTH);
      changes.add(change(contest, entrant, contest + ": its first row alone", one, row));
    } catch (RuntimeException | LinkageError e) {
      return List.of();
    }
    return changes;
  }

  /** As many elements are compared as the shorter has. */
  private static Change change(
      Contest contest, Entrant entrant, String what, int[] one, int[] other) {
    long differing = 0;
    int elements = Math.min(one.length, other.length);
    for (int i = 0; i < elements; i++) {
      differing += one[i] == other[i] ? 0 : 1;
    }
    return new Change(what, contest, entrant.name(), differing, elements);
  }

  /**
   * The bits of all that is computed, that of each row first. Rows with the same number have the
   * same elements.
   */
  private static int[] answer(Contest contest, Entrant entrant, int threads, Arena arena) {
    Place place = Place.random(contest, arena);
    entrant.answer(place, threads);
    if (!contest.backward()) {
      return bits(place.y);
    }
    return IntStream.concat(IntStream.of(bits(place.dx)), IntStream.of(bits(place.dgain)))
        .toArray();
  }

  private static int[] bits(MemorySegment segment) {
    return segment.toArray(ValueLayout.JAVA_INT);
  }
}
