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
        Path.of(args[0]), JSON.writeValueAsString(new Figure(contest, 1, true, entries)));
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
