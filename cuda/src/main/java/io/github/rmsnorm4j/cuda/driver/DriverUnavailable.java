package io.github.rmsnorm4j.cuda.driver;

/** There is no driver, or none that can be used. The message says why and what is needed. */
public final class DriverUnavailable extends Exception {
  private static final long serialVersionUID = 1;

  DriverUnavailable(String message) {
    super(message);
  }
}
