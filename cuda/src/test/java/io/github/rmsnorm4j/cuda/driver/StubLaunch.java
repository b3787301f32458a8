package io.github.rmsnorm4j.cuda.driver;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A launch that reached the stub.
 *
 * @param ptx the text of the module
 * @param kernel the name of the {@code .entry}
 * @param grid blocks in x, y and z
 * @param block threads of a block in x, y and z
 * @param sharedBytes shared memory beside what the text declares
 * @param parameters the values of the parameters; they live as long as the launch
 */
public record StubLaunch(
    String ptx,
    String kernel,
    List<Integer> grid,
    List<Integer> block,
    int sharedBytes,
    MemorySegment parameters) {
  /** What runs kernels in place of a device. */
  @FunctionalInterface
  public interface Device {
    /**
     * Runs a kernel. An address among its parameters is one of this process: {@link
     * StubDriver#allocationAt} gives the memory of the device that is there.
     *
     * @return 0, or the number of the driver's error with which the kernel failed
     */
    int run(StubLaunch launch);
  }
}
