package io.github.rmsnorm4j.cuda;

/**
 * The CUDA driver refused a call, or work on the device failed.
 *
 * <p>The message has the driver's function, the name, number and meaning of the error, and the
 * device. The device works beside the processor, so an error of a kernel is seen by a later call.
 * Then the message also names the kernels that may have failed and the calls that started them.
 */
public final class CudaException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The result of the driver. */
  private final int code;

  /** The name of the result. */
  private final String codeName;

  /** Whether nothing on the device can be used any more. */
  private final boolean contextLost;

  /**
   * An error that leaves the context as it was.
   *
   * @param code the driver's number of the error, a {@code CUresult}
   * @param codeName the driver's name of the error
   * @param message all that is known of it, in one line
   */
  public CudaException(int code, String codeName, String message) {
    super(message);
    this.code = code;
    this.codeName = codeName;
    this.contextLost = false;
  }

  /**
   * An error with which the context was lost.
   *
   * @param cause the error, without that fact
   * @param message all that is known of it, in one line
   */
  public CudaException(CudaException cause, String message) {
    super(message, cause);
    this.code = cause.code;
    this.codeName = cause.codeName;
    this.contextLost = true;
  }

  /** {@return the driver's number of the error, a {@code CUresult}, such as 2} */
  public int code() {
    return code;
  }

  /** {@return the driver's name of the error, such as {@code CUDA_ERROR_OUT_OF_MEMORY}} */
  public String codeName() {
    return codeName;
  }

  /**
   * {@return whether the device's context is lost} Then its memory and streams cannot be used any
   * more by this process, and each later call says so.
   */
  public boolean isContextLost() {
    return contextLost;
  }
}
