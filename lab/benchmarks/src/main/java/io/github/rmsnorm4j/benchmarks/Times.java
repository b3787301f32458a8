package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.measure.Interleaved;
import io.github.rmsnorm4j.measure.Samples;
import java.util.List;

/**
 * What two things took that were done in turn, in nanoseconds per call, a number per round.
 *
 * @param subject what is measured
 * @param baseline what it is compared with
 */
record Times(List<Double> subject, List<Double> baseline) {
  /** Both at as many places in memory, to be taken in turn. */
  static Times measure(List<Runnable> subjects, List<Runnable> baselines, Interleaved measurement) {
    List<Samples> samples = measurement.measure(List.of(baselines, subjects));
    return new Times(samples.getLast().nanos(), samples.getFirst().nanos());
  }

  double subjectNanos() {
    return Samples.median(subject);
  }

  double baselineNanos() {
    return Samples.median(baseline);
  }

  double ratio() {
    return subjectNanos() / baselineNanos();
  }
}
