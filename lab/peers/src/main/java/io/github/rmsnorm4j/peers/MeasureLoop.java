package io.github.rmsnorm4j.peers;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.benchmarks.Memory;
import io.github.rmsnorm4j.benchmarks.Pollution;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Contests;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.Start;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.measure.ChildJvm;
import io.github.rmsnorm4j.measure.Effort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A process of one {@link Start} that measures this library against the plain loop that it
 * replaces: rows in Java arrays, on one thread, after everything else went through this library.
 */
final class MeasureLoop {
  private static final JsonMapper JSON = new JsonMapper();

  private MeasureLoop() {}

  static Figure inFreshJvm(Contest contest, Start start, boolean quick) throws IOException {
    List<String> arguments = List.of(contest.toString(), start.name(), "" + quick);
    return JSON.readValue(ChildJvm.call(MeasureLoop.class, start.flags(), arguments), Figure.class);
  }

  public static void main(String[] args) throws IOException {
    Contest contest =
        Contests.loops().stream()
            .filter(c -> c.toString().equals(args[1]))
            .findFirst()
            .orElseThrow();
    Start start = Start.valueOf(args[2]);
    boolean quick = Boolean.parseBoolean(args[3]);
    Pollution.run(Backend.best(), quick);
    List<Entrant> entrants = List.of(Own.entrant(contest, start), JavaLoop.entrant(contest));
    List<Entry> entries =
        MeasureContest.measure(
            entrants, contest, Memory.HEAP, 1, quick ? Effort.QUICK : Effort.FULL);
    Figure figure = new Figure(contest, 1, true, entries);
    if (figure.entry(Systems.JAVA_LOOP).orElseThrow().wrong()) {
      throw new AssertionError(contest + ": the loop computes something else");
    }
    Files.writeString(Path.of(args[0]), JSON.writeValueAsString(figure));
  }
}
