package io.github.rmsnorm4j.studies.compare;

import java.util.ArrayList;
import java.util.List;

/**
 * A variant on a subject, with what follows from the measurement.
 *
 * @param pass forward or backward
 * @param type of the elements
 * @param shape of the tensors
 * @param variant which
 * @param medianNanos of a call
 * @param lowestNanos of a call
 * @param highestNanos of a call
 * @param bytesPerElement read and written
 * @param bytesPerSecond read and written
 * @param timesCopy the median, divided by the median of a copy of one tensor
 * @param operationsPerByte what is computed for each byte
 * @param operationsPerSecond what is computed
 * @param parameters elements of gain and bias
 * @param error the largest, as a part of the row's largest element
 * @param memoryBytes null where it was not measured
 */
record Row(
    Pass pass,
    String type,
    String shape,
    String variant,
    double medianNanos,
    double lowestNanos,
    double highestNanos,
    int bytesPerElement,
    double bytesPerSecond,
    double timesCopy,
    double operationsPerByte,
    double operationsPerSecond,
    long parameters,
    double error,
    Long memoryBytes) {
  /** Of all subjects, in the order in which they were measured. */
  static List<Row> all(Results results) {
    List<Row> rows = new ArrayList<>();
    for (Timing timing : results.timings()) {
      for (Timed timed : timing.variants()) {
        rows.add(of(results, timing, timed));
      }
    }
    return rows;
  }

  boolean isOf(Subject subject) {
    return pass == subject.pass()
        && type.equals(subject.type().toString())
        && shape.equals(subject.shape().toString());
  }

  private static Row of(Results results, Timing timing, Timed timed) {
    Subject subject = timing.subject();
    return new Row(
        subject.pass(),
        subject.type().toString(),
        subject.shape().toString(),
        timed.variant().toString(),
        timed.nanos().median(),
        timed.nanos().lowest(),
        timed.nanos().highest(),
        timed.work().passes() * subject.type().bytes(),
        timing.bandwidth(timed),
        timing.timesCopy(timed),
        timing.intensity(timed),
        timing.speed(timed),
        timed.parameters(),
        timed.error(),
        results.memory(subject, timed.variant()).map(MemoryUse::bytes).orElse(null));
  }
}
