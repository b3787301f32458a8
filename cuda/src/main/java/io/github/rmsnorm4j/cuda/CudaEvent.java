package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.cuda.driver.Event;
import java.util.Objects;

/**
 * A mark on a stream, behind the work that was started there before. Another stream, or the
 * processor, can wait until the device has passed the mark, and the time from one mark to another
 * can be asked. {@link CudaDevice#event()} makes it.
 *
 * <pre>{@code
 * x.copyFrom(pinned, copies);       // on the stream "copies"
 * arrived.record(copies);
 * kernels.waitFor(arrived);         // the norm starts when the bytes are there
 * norm.apply(rows, rows, kernels);
 * }</pre>
 *
 * <p>An event can be recorded again. A stream that has been told to wait keeps waiting for the mark
 * that was the last one then.
 *
 * <p>An event is not for use by several threads at once.
 */
public final class CudaEvent implements AutoCloseable {
  private final CudaDevice device;
  private final Event event;

  CudaEvent(CudaDevice device) {
    this.device = device;
    this.event = new Event(device.context());
  }

  /** {@return the device that it is of} */
  public CudaDevice device() {
    return device;
  }

  Event internal() {
    return event;
  }

  /**
   * Sets the mark behind all that was started on a stream. The last mark counts. Does not wait.
   *
   * @param stream a stream of the same device
   * @throws IllegalArgumentException if the stream is of another device
   * @throws IllegalStateException if the event, the stream or the device is closed
   * @throws CudaException if the driver or work before this on the device failed
   */
  public void record(CudaStream stream) {
    event.record(Objects.requireNonNull(stream, "stream is null").internal());
  }

  /**
   * Waits until the device has passed the mark: until all is done that was started on the stream
   * before.
   *
   * @throws IllegalStateException if the event was not recorded, or it or the device is closed
   * @throws CudaException if some of the work before failed
   */
  public void synchronize() {
    event.synchronize();
  }

  /**
   * Waits until the device has passed this mark, and says how long it took from an earlier mark on.
   * The device has clocks of its own for that. Both marks must be on one stream: what other streams
   * do may come between two marks of different streams, so such a time means nothing.
   *
   * @param earlier an event that was recorded on the same stream before this one; this one itself
   *     gives 0
   * @return milliseconds, in steps of about half a microsecond
   * @throws IllegalArgumentException if the earlier event is of another device, was recorded on
   *     another stream, or was recorded after this one
   * @throws IllegalStateException if an event was not recorded, or an event or the device is closed
   * @throws CudaException if some of the work before failed
   */
  public double millisecondsSince(CudaEvent earlier) {
    return event.millisecondsSince(Objects.requireNonNull(earlier, "earlier is null").event);
  }

  /**
   * Gives the event back to the driver; does not wait. A stream that waits for it goes on to wait.
   * Does nothing if it is closed already.
   */
  @Override
  public void close() {
    event.close();
  }
}
