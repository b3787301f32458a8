package io.github.rmsnorm4j.cuda.testing;

import io.github.rmsnorm4j.cuda.InterpretedDevice;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import io.github.rmsnorm4j.cuda.driver.StubDriver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A GPU for the tests of other modules: a stub of the driver, and an interpreter that runs the
 * kernels. From its making to its end, {@code CudaDevice.open()} opens it.
 */
public final class StubGpu implements AutoCloseable {
  private static final String LIBRARY = "rmsnorm4j.cuda.library";

  private final Path alias;
  private final StubDriver driver = InterpretedDevice.behind(StubDriver.fresh());

  /**
   * One device with 1 GiB of memory. Work on a stream is done only when a call waits for it, so a
   * caller that forgets to wait sees old bytes. Skips the test where there is no gcc, which builds
   * the stub.
   */
  public StubGpu() throws IOException {
    driver.lazy();
    // A driver is looked for once under each name, and this one has been started anew.
    alias = Files.createTempDirectory("gpu").resolve("libcuda.so.1");
    Files.createSymbolicLink(alias, Path.of(driver.library()));
    System.setProperty(LIBRARY, alias.toString());
  }

  /** How much memory it has, all of it free. */
  public void memory(long bytes) {
    driver.device(0, 9, 0, bytes);
  }

  /** The next kernel will fail with an error, which the call after its launch sees. */
  public void failKernel(int code) {
    driver.failKernel(code);
  }

  /** Kernels do nothing from now on, and succeed. */
  public void idle() {
    driver.onLaunch(launch -> 0);
  }

  /** How many kernels were launched since this was asked before. */
  public int launches() {
    return driver.calls(EntryPoint.LAUNCH_KERNEL).size();
  }

  /** What was not given back to the driver, in words; nothing if all was. */
  public String leaks() {
    return driver.leaks();
  }

  /** Throws what a kernel did wrong, which no native code could pass on. */
  public void rethrow() {
    try {
      driver.rethrow();
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() throws IOException {
    System.clearProperty(LIBRARY);
    Files.delete(alias);
    Files.delete(alias.getParent());
  }
}
