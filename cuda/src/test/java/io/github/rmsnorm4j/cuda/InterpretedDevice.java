package io.github.rmsnorm4j.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.github.rmsnorm4j.cuda.driver.StubDriver;
import io.github.rmsnorm4j.cuda.driver.StubLaunch;
import io.github.rmsnorm4j.cuda.interpret.GlobalMemory;
import io.github.rmsnorm4j.cuda.interpret.Grid;
import io.github.rmsnorm4j.cuda.interpret.Work;

/** The device behind the stub of the driver: it runs kernels on the interpreter. */
@SuppressWarnings("exports") // Test code is on the class path.
public final class InterpretedDevice implements StubLaunch.Device {
  private static final long MOST_WORK = 400_000_000L;

  private final StubDriver stub;

  /** A stub whose kernels do their work. */
  public static StubDriver behind(StubDriver stub) {
    stub.onLaunch(of(stub));
    return stub;
  }

  /** What does the work of the kernels of a stub. */
  public static StubLaunch.Device of(StubDriver stub) {
    return new InterpretedDevice(stub);
  }

  private InterpretedDevice(StubDriver stub) {
    this.stub = stub;
  }

  @Override
  public int run(StubLaunch launch) {
    GlobalMemory memory = new GlobalMemory(stub::allocationAt);
    new Grid(
            DeviceRun.program(launch.ptx()),
            memory,
            launch.grid().getFirst(),
            launch.block().getFirst(),
            launch.sharedBytes(),
            launch.parameters().toArray(JAVA_BYTE),
            false,
            new Work(MOST_WORK))
        .run();
    memory.giveBack();
    return 0;
  }
}
