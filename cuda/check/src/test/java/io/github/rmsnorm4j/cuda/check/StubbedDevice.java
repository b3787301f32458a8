package io.github.rmsnorm4j.cuda.check;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.InterpretedDevice;
import io.github.rmsnorm4j.cuda.driver.StubDriver;
import io.github.rmsnorm4j.cuda.driver.StubLaunch;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** The device of the tests: the stub of a driver, behind which the interpreter runs kernels. */
final class StubbedDevice {
  static final Progress QUIET = (part, step, steps, what) -> {};

  private static StubDriver stub;

  private StubbedDevice() {}

  /** Opens it. Skips the test where there is no gcc. */
  static synchronized CudaDevice open() {
    if (stub == null) {
      stub = StubDriver.fresh();
      interpret();
      // The library is looked for once in a process.
      System.setProperty("rmsnorm4j.cuda.library", stub.library());
    }
    return CudaDevice.open().orElseThrow();
  }

  /** Kernels do their work from here on. */
  static void interpret() {
    InterpretedDevice.behind(stub);
  }

  /**
   * Kernels do their work, and then something happens to the last memory among their parameters.
   */
  static void interpretAnd(Consumer<MemorySegment> fault) {
    StubLaunch.Device interpreter = InterpretedDevice.of(stub);
    stub.onLaunch(
        launch -> {
          int result = interpreter.run(launch);
          fault.accept(lastMemory(launch.parameters()));
          return result;
        });
  }

  private static MemorySegment lastMemory(MemorySegment parameters) {
    MemorySegment last = null;
    for (long at = 0; at + Long.BYTES <= parameters.byteSize(); at += Long.BYTES) {
      MemorySegment memory = stub.allocationAt(parameters.get(JAVA_LONG_UNALIGNED, at));
      last = memory.byteSize() > 0 ? memory : last;
    }
    return last;
  }

  /** The driver of an opened device. */
  static StubDriver driver() {
    return stub;
  }
}
