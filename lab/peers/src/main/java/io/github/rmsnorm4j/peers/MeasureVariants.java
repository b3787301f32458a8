package io.github.rmsnorm4j.peers;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.Memory;
import io.github.rmsnorm4j.benchmarks.Pollution;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Contests;
import io.github.rmsnorm4j.benchmarks.peers.KernelKind;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.Variant;
import io.github.rmsnorm4j.measure.ChildJvm;
import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/**
 * A process with kernels of one {@link KernelKind} that measures variants and the plain norms that
 * they are compared with: on one thread, in turn, after everything else went through this library.
 */
final class MeasureVariants {
  /** Three calls move at most a half more than two. */
  private static final double SLOW_LOOP = 2;

  private static final JsonMapper JSON = new JsonMapper();

  private MeasureVariants() {}

  static Figure inFreshJvm(Contest contest, KernelKind kind, boolean quick) throws IOException {
    List<String> arguments = List.of(contest.toString(), kind.name(), "" + quick);
    String json = ChildJvm.call(MeasureVariants.class, kind.flags(), arguments);
    return JSON.readValue(json, Figure.class);
  }

  public static void main(String[] args) throws IOException {
    Contest contest =
        Contests.variants().stream()
            .filter(c -> c.toString().equals(args[1]))
            .findFirst()
            .orElseThrow();
    KernelKind kind = KernelKind.valueOf(args[2]);
    boolean quick = Boolean.parseBoolean(args[3]);
    pollute(kind, quick);
    List<Entrant> entrants = new ArrayList<>(Variants.in(contest, kind));
    if (contest.kernel() == Kernel.RMS_NORM
        && contest.type() == ElementType.FLOAT32
        && kind.isMachineCode()) {
      entrants.add(OnnxQuantized.entrant(contest));
    }
    List<Entry> entries =
        MeasureContest.measure(
            entrants, contest, kind.memory(), 1, quick ? Effort.QUICK : MeasureContest.EFFORT);
    Files.writeString(
        Path.of(args[0]),
        JSON.writeValueAsString(new Figure(contest, 1, true, judged(entries, kind))));
  }

  /**
   * Leaves out the times of three calls if they are far above those of two: then the loop that adds
   * was not compiled, as happens on a busy machine, and any sandwich would meet its target.
   */
  static List<Entry> judged(List<Entry> entries, KernelKind kind) {
    double two = time(entries, Variant.SANDWICH_IN_TWO.system(kind));
    String three = Variant.SANDWICH_IN_THREE.system(kind);
    if (!(time(entries, three) > SLOW_LOOP * two)) {
      return entries;
    }
    String why = "the loop that adds was not compiled";
    return entries.stream()
        .map(
            e ->
                e.system().equals(three)
                    ? new Entry(three, e.error(), e.allowed(), why, List.of())
                    : e)
        .toList();
  }

  /** NaN where there is none. */
  private static double time(List<Entry> entries, String system) {
    return entries.stream()
        .filter(entry -> entry.system().equals(system) && entry.refused() == null)
        .mapToDouble(Entry::median)
        .findFirst()
        .orElse(Double.NaN);
  }

  /** Plain norms of every type, and every variant on narrow rows, in arrays too. */
  private static void pollute(KernelKind kind, boolean quick) {
    Pollution.run(kind.backend(), quick);
    List<Contest> narrow =
        Contests.variants().stream()
            .map(contest -> Contest.forward(contest.kernel(), 2, 1024).with(contest.type()))
            .distinct()
            .toList();
    for (Contest contest : narrow) {
      for (Memory memory : EnumSet.of(Memory.HEAP, kind.memory())) {
        for (Entrant entrant : Variants.in(contest, kind)) {
          try (Arena arena = Arena.ofShared();
              Turn turn = entrant.entry().ready(Place.random(contest, memory, arena), 1)) {
            Pollution.run(turn::run, quick);
          }
        }
      }
    }
  }
}
