package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaEvent;
import io.github.rmsnorm4j.cuda.CudaStream;
import java.util.function.LongSupplier;

/**
 * Time by the clock of a GPU: each reading is an event on a stream, which is passed when the work
 * before it is done. The GPU tells the time between two readings.
 */
final class EventClock implements LongSupplier, AutoCloseable {
  private static final double NANOS_PER_MILLISECOND = 1e6;

  private final CudaStream stream;
  private CudaEvent last;
  private CudaEvent next;
  private double nanos;

  EventClock(CudaDevice device, CudaStream stream) {
    this.stream = stream;
    last = device.event();
    next = device.event();
    last.record(stream);
  }

  /** Waits for the work. */
  @Override
  public long getAsLong() {
    next.record(stream);
    nanos += next.millisecondsSince(last) * NANOS_PER_MILLISECOND;
    CudaEvent passed = last;
    last = next;
    next = passed;
    return (long) nanos;
  }

  @Override
  public void close() {
    last.close();
    next.close();
  }
}
