package io.github.rmsnorm4j.peers;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.benchmarks.Memory;
import io.github.rmsnorm4j.benchmarks.Pollution;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Contests;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.measure.ChildJvm;
import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.measure.Interleaved;
import io.github.rmsnorm4j.measure.Samples;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** A process that measures a contest: all systems in turn, over the same rows. */
final class MeasureContest {
  /** There are up to ten systems to warm up, not two. */
  static final Effort EFFORT = new Effort(500_000_000, 9, 20_000_000);

  /** Bytes of input rows at all places, of which every round takes the next. */
  private static final long MEMORY = 1 << 25;

  private static final JsonMapper JSON = new JsonMapper();

  private MeasureContest() {}

  /**
   * Has a contest measured by a JVM of its own.
   *
   * @param polluted whether everything goes through this library first
   * @return a figure for each number of threads
   */
  static List<Figure> inFreshJvm(
      Contest contest, List<Integer> threads, boolean polluted, boolean quick) throws IOException {
    List<String> arguments = Stream.of(contest, polluted, quick).map(Object::toString).toList();
    List<String> counts = threads.stream().map(Object::toString).toList();
    String json =
        ChildJvm.call(
            MeasureContest.class, Stream.of(arguments, counts).flatMap(List::stream).toList());
    return List.of(JSON.readValue(json, Figure[].class));
  }

  public static void main(String[] args) throws IOException {
    Contest contest =
        Contests.all().stream().filter(c -> c.toString().equals(args[1])).findFirst().orElseThrow();
    boolean polluted = Boolean.parseBoolean(args[2]);
    boolean quick = Boolean.parseBoolean(args[3]);
    if (polluted) {
      Pollution.run(Backend.best(), quick);
    }
    List<Figure> figures = new ArrayList<>();
    for (String threads : List.of(args).subList(4, args.length)) {
      int count = Integer.parseInt(threads);
      Effort effort = quick ? Effort.QUICK : EFFORT;
      List<Entry> entries = measure(Entrant.in(contest), contest, Memory.NATIVE, count, effort);
      figures.add(new Figure(contest, count, polluted, entries));
    }
    Files.writeString(Path.of(args[0]), JSON.writeValueAsString(figures));
  }

  /** One thread by its processor time, more by the clock: those are to finish sooner. */
  static List<Entry> measure(
      List<Entrant> entrants, Contest contest, Memory memory, int threads, Effort effort) {
    LongSupplier clock =
        threads == 1
            ? ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime
            : System::nanoTime;
    try (Arena arena = Arena.ofShared()) {
      List<Place> places = new ArrayList<>();
      long bytes = (long) contest.elements() * contest.type().bytes();
      for (int i = 0; i < Math.clamp(MEMORY / bytes, 1, effort.rounds()); i++) {
        places.add(Place.random(contest, memory, arena));
      }
      List<Ready> all = entrants.stream().map(e -> Ready.of(e, places, threads)).toList();
      try {
        return timed(all, new Interleaved(effort, clock));
      } finally {
        all.stream().flatMap(ready -> ready.turns.stream()).forEach(Turn::close);
      }
    }
  }

  private static List<Entry> timed(List<Ready> all, Interleaved interleaved) {
    List<Ready> able = all.stream().filter(ready -> ready.refused == null).toList();
    List<Samples> samples =
        interleaved.measure(
            able.stream().map(r -> r.turns.stream().<Runnable>map(t -> t::run).toList()).toList());
    return all.stream()
        .map(r -> r.entry(r.refused == null ? samples.get(able.indexOf(r)).nanos() : List.of()))
        .toList();
  }

  /** A system with its answer checked, at each of the places; or why it refuses. */
  private record Ready(
      String system, double error, double allowed, String refused, List<Turn> turns) {
    static Ready of(Entrant entrant, List<Place> places, int threads) {
      double allowed = Answer.allowed(entrant, places.getFirst().contest);
      List<Turn> turns = new ArrayList<>();
      try {
        for (Place place : places) {
          turns.add(entrant.entry().ready(place, threads));
        }
        double error = entrant.definition() == null ? 0 : error(entrant, turns.getFirst(), places);
        return new Ready(entrant.name(), error, allowed, null, turns);
      } catch (RuntimeException | LinkageError e) {
        turns.forEach(Turn::close);
        return new Ready(entrant.name(), 0, allowed, String.valueOf(e.getMessage()), List.of());
      }
    }

    private static double error(Entrant entrant, Turn turn, List<Place> places) {
      Place place = places.getFirst();
      place.forget();
      turn.run();
      turn.collect();
      double error = Answer.error(place, entrant.definition());
      if (entrant.name().startsWith(Systems.OWN)
          && !(error <= Answer.allowed(entrant, place.contest))) {
        throw new AssertionError(
            "%s, %s: the error is %s".formatted(place.contest, entrant.name(), error));
      }
      return error;
    }

    Entry entry(List<Double> nanos) {
      return new Entry(system, error, allowed, refused, nanos);
    }
  }
}
