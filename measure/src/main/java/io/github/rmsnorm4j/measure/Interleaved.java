package io.github.rmsnorm4j.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Times things that are to be compared: each is warmed up, then they take turns, so that what slows
 * the machine for a while slows all of them.
 *
 * @param effort how long to measure
 * @param clock in nanoseconds; {@code System::nanoTime}, or the processor time of a thread
 */
public record Interleaved(Effort effort, LongSupplier clock) {
  /** What counts as having become faster. */
  private static final double FASTER = 0.97;

  /** What counts as not being compiled yet, against the fastest time so far. */
  private static final double SLOW = 2;

  /** The longest warm-up, as a multiple of {@link Effort#settledNanos}. */
  private static final int LONGEST = 20;

  /**
   * Measures on the calling thread.
   *
   * @param entrants what is compared; each as the same work at one or several places in memory, of
   *     which every round takes the next
   * @return the times of each, in the same order
   */
  public List<Samples> measure(List<List<Runnable>> entrants) {
    return measure(entrants, System::nanoTime);
  }

  /**
   * Also takes the clock that ends the warm-up. It is the real one, as the other may stand still.
   */
  List<Samples> measure(List<List<Runnable>> entrants, LongSupplier wall) {
    List<Long> calls = new ArrayList<>();
    List<List<Double>> times = new ArrayList<>();
    for (List<Runnable> entrant : entrants) {
      calls.add(warmUp(entrant.getFirst(), wall));
      times.add(new ArrayList<>());
    }
    for (int round = 0; round < effort.rounds(); round++) {
      for (int i = 0; i < entrants.size(); i++) {
        List<Runnable> places = entrants.get(i);
        long took = time(places.get(round % places.size()), calls.get(i));
        times.get(i).add((double) took / calls.get(i));
      }
    }
    return times.stream().map(Samples::new).toList();
  }

  /**
   * Goes on until it has not become faster for a while, for the compiler may be late on a busy
   * machine. While it takes much longer than its best time it is not warm: a process that begins
   * with one kind of code and goes over to another is slow until the second is compiled. Goes on no
   * longer than {@link #LONGEST}. Returns how many calls fill a sample then.
   */
  private long warmUp(Runnable work, LongSupplier wall) {
    double best = Double.MAX_VALUE;
    long begun = wall.getAsLong();
    long changed = begun;
    long calls = 1;
    do {
      long took = Math.max(1, time(work, calls));
      double perCall = (double) took / calls;
      if (perCall < best * FASTER || perCall > best * SLOW) {
        changed = wall.getAsLong();
      }
      best = Math.min(best, perCall);
      calls = Math.clamp(calls * effort.sampleNanos() / took, 1, 2 * calls);
    } while (wall.getAsLong() - changed < effort.settledNanos()
        && wall.getAsLong() - begun < LONGEST * effort.settledNanos());
    return calls;
  }

  private long time(Runnable work, long calls) {
    long start = clock.getAsLong();
    for (long i = 0; i < calls; i++) {
      work.run();
    }
    return clock.getAsLong() - start;
  }
}
