package io.github.rmsnorm4j.cuda.stubbed;

import io.github.rmsnorm4j.cuda.InterpretedDevice;
import io.github.rmsnorm4j.cuda.check.Check;
import io.github.rmsnorm4j.cuda.driver.StubDriver;

/**
 * The check on the stub of a driver, whose kernels the interpreter runs: for the Java of the image.
 */
public final class StubbedCheck {
  private StubbedCheck() {}

  /**
   * Checks.
   *
   * @param args of the check
   */
  public static void main(String[] args) {
    StubDriver stub = InterpretedDevice.behind(StubDriver.fresh());
    System.setProperty("rmsnorm4j.cuda.library", stub.library());
    Check.main(args);
  }
}
