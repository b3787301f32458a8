package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.cuda.driver.Stream;
import java.util.Objects;

/**
 * A stream of a device: calls on it are done in the order in which they were started, beside the
 * processor and beside the other streams. {@link CudaDevice#stream()} makes one. {@link CudaEvent}
 * orders the work of two streams.
 *
 * <p>A call on a stream returns when its work is started. If the work fails, a later call on the
 * device or {@link #synchronize()} throws the {@link CudaException}, which names the kernel and the
 * call that started it.
 *
 * <p>Any thread may use a stream. The order of calls from several threads is the order in which
 * they reach the driver.
 */
public final class CudaStream implements AutoCloseable {
  private final CudaDevice device;
  private final Stream stream;

  private CudaStream(CudaDevice device, Stream stream) {
    this.device = device;
    this.stream = stream;
  }

  static CudaStream create(CudaDevice device) {
    return new CudaStream(device, Stream.create(device.context()));
  }

  static CudaStream wrap(CudaDevice device, long handle) {
    return new CudaStream(device, Stream.wrap(device.context(), handle));
  }

  /** {@return the device that it is on} */
  public CudaDevice device() {
    return device;
  }

  /**
   * {@return its handle for other libraries, a {@code CUstream}}
   *
   * @throws IllegalStateException if the stream is closed
   */
  public long handle() {
    return stream.handle().address();
  }

  /** For launches. */
  Stream internal() {
    return stream;
  }

  /**
   * Waits until all is done that was started on this stream.
   *
   * @throws CudaException if some of it failed
   * @throws IllegalStateException if the stream or the device is closed
   */
  public void synchronize() {
    stream.synchronize();
  }

  /**
   * Lets the stream wait, before all that is started on it after this call, until the device has
   * passed the mark of an event. The call itself does not wait. Marks that are set later on the
   * event do not matter.
   *
   * @param event an event of the same device that was recorded, on this stream or another one
   * @throws IllegalArgumentException if the event is of another device
   * @throws IllegalStateException if the event was not recorded, or it, the stream or the device is
   *     closed
   * @throws CudaException if the driver or work before this on the device failed
   */
  public void waitFor(CudaEvent event) {
    stream.waitFor(Objects.requireNonNull(event, "event is null").internal());
  }

  /**
   * Gives the stream back to the driver once its work is done; does not wait for it. A wrapped
   * stream stays as it is. Does nothing if it is closed already.
   */
  @Override
  public void close() {
    stream.close();
  }
}
