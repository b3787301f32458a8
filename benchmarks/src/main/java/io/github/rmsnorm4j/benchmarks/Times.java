package io.github.rmsnorm4j.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * What two things took that were done in turn, in nanoseconds per call, a number per round.
 *
 * @param subject what is measured
 * @param baseline what it is compared with
 */
record Times(List<Double> subject, List<Double> baseline) {
  /** What counts as having become faster. */
  private static final double FASTER = 0.97;

  /**
   * Both warmed up, then a sample of each in every round.
   *
   * @param subjects the same at one or several places in memory, to be taken in turn
   * @param baselines as many
   */
  static Times measure(
      List<Runnable> subjects, List<Runnable> baselines, Effort effort, LongSupplier clock) {
    long subjectCalls = warmUp(subjects.getFirst(), effort, clock);
    long baselineCalls = warmUp(baselines.getFirst(), effort, clock);
    List<Double> subjectTimes = new ArrayList<>();
    List<Double> baselineTimes = new ArrayList<>();
    for (int round = 0; round < effort.rounds(); round++) {
      Runnable subject = subjects.get(round % subjects.size());
      Runnable baseline = baselines.get(round % baselines.size());
      baselineTimes.add((double) time(baseline, baselineCalls, clock) / baselineCalls);
      subjectTimes.add((double) time(subject, subjectCalls, clock) / subjectCalls);
    }
    return new Times(subjectTimes, baselineTimes);
  }

  /**
   * Goes on until it has not become faster for a while, for the compiler may be late on a busy
   * machine. Returns how many calls fill a sample then.
   */
  private static long warmUp(Runnable work, Effort effort, LongSupplier clock) {
    double best = Double.MAX_VALUE;
    long improved = System.nanoTime();
    long calls = 1;
    do {
      long took = Math.max(1, time(work, calls, clock));
      double perCall = (double) took / calls;
      if (perCall < best * FASTER) {
        improved = System.nanoTime();
      }
      best = Math.min(best, perCall);
      calls = Math.clamp(calls * effort.sampleNanos() / took, 1, 2 * calls);
    } while (System.nanoTime() - improved < effort.settledNanos());
    return calls;
  }

  private static long time(Runnable work, long calls, LongSupplier clock) {
    long start = clock.getAsLong();
    for (long i = 0; i < calls; i++) {
      work.run();
    }
    return clock.getAsLong() - start;
  }

  /** Median by median: a neighbour's noise in one round moves neither. */
  double ratio() {
    return median(subject) / median(baseline);
  }

  static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
