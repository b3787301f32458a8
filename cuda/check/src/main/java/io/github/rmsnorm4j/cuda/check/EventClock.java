package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaEvent;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.CudaStream;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Locale;

/** Times work on a stream by events of the device. */
final class EventClock implements AutoCloseable {
  private static final long COPIED_BYTES = 64L << 20;

  /** How long the sample must be by the processor's clock for the two clocks to be compared. */
  private static final double LONG_ENOUGH_MICROS = 50_000;

  private static final int MOST_COPIES = 1 << 20;

  /** The processor's clock also sees how long starting and waiting take. */
  private static final double LEAST_SHARE = 0.8;

  private static final double MOST_SHARE = 1.05;

  private final CudaDevice device;
  private final CudaStream stream;
  private final CudaEvent begin;
  private final CudaEvent end;

  EventClock(CudaDevice device, CudaStream stream) {
    this.device = device;
    this.stream = stream;
    begin = device.event();
    end = device.event();
  }

  /** Microseconds that the device needs for a piece of work; they take turns. */
  double micros(List<Runnable> places, int calls) {
    begin.record(stream);
    for (int i = 0; i < calls; i++) {
      places.get(i % places.size()).run();
    }
    end.record(stream);
    return end.millisecondsSince(begin) * 1000 / calls;
  }

  /**
   * Why times of events are not to be believed here: the processor's clock says otherwise. Null if
   * both agree. A driver without a device has no clock of its own, so its times are found out.
   */
  String doubt() {
    try (Arena arena = Arena.ofConfined()) {
      CudaMemory from = device.allocate(COPIED_BYTES, arena);
      CudaMemory to = device.allocate(COPIED_BYTES, arena);
      List<Runnable> copy = List.of(() -> to.copyFrom(from, stream));
      micros(copy, 1);
      for (int copies = 1; copies < MOST_COPIES; copies *= 2) {
        long start = System.nanoTime();
        double events = micros(copy, copies) * copies;
        double clock = (System.nanoTime() - start) / 1e3;
        if (clock >= LONG_ENOUGH_MICROS) {
          return doubt(events, clock);
        }
      }
    }
    return "no sample was long enough to compare the device's clock with the processor's";
  }

  static String doubt(double events, double clock) {
    double share = events / clock;
    return share >= LEAST_SHARE && share <= MOST_SHARE
        ? null
        : String.format(
            Locale.ROOT,
            "copies took %.1f ms by the device's events and %.1f ms by the processor's clock, so"
                + " times of this device are not believed",
            events / 1e3,
            clock / 1e3);
  }

  @Override
  public void close() {
    begin.close();
    end.close();
  }
}
