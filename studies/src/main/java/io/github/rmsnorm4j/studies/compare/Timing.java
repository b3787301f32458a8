package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.measure.Samples;
import java.util.List;

/**
 * What all variants took on a subject, in turn.
 *
 * @param subject what on
 * @param copy nanoseconds that a copy of one tensor to another took
 * @param variants one for each
 */
public record Timing(Subject subject, Samples copy, List<Timed> variants) {
  /** Of a variant. */
  Timed of(Variant variant) {
    return variants.stream().filter(t -> t.variant() == variant).findFirst().orElseThrow();
  }

  /** Bytes per second that a variant reads and writes, parameters and per-row scalars left out. */
  double bandwidth(Timed timed) {
    return timed.work().passes() * subject.tensorBytes() / timed.nanos().median() * 1e9;
  }

  /** Bytes per second that a copy reads and writes. */
  double copyBandwidth() {
    return 2 * subject.tensorBytes() / copy.median() * 1e9;
  }

  /** How many times as long as a copy of one tensor, whatever it reads and writes. */
  double timesCopy(Timed timed) {
    return timed.nanos().median() / copy.median();
  }

  /** Operations per byte that is read or written. */
  double intensity(Timed timed) {
    return (double) timed.work().operations() / (timed.work().passes() * subject.type().bytes());
  }

  /** Operations per second. */
  double speed(Timed timed) {
    return timed.work().operations() * subject.shape().elements() / timed.nanos().median() * 1e9;
  }
}
