package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.cuda.driver.Stream;

/**
 * A stream of a device: calls on it are done in the order in which they were started, beside the
 * processor and beside the other streams. {@link CudaDevice#stream()} makes one.
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
   * Gives the stream back to the driver once its work is done; does not wait for it. A wrapped
   * stream stays as it is. Does nothing if it is closed already.
   */
  @Override
  public void close() {
    stream.close();
  }
}
