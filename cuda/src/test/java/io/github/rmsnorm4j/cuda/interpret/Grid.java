package io.github.rmsnorm4j.cuda.interpret;

/**
 * One launch of a kernel.
 *
 * @param program the kernel
 * @param global the memory of the device
 * @param blocks of threads
 * @param threads of a block
 * @param sharedBytes of a block
 * @param parameters the bytes of its parameters
 * @param reversed whether blocks and warps take their turns from the last one to the first
 * @param work counts what was done
 */
public record Grid(
    PtxProgram program,
    GlobalMemory global,
    int blocks,
    int threads,
    int sharedBytes,
    byte[] parameters,
    boolean reversed,
    Work work) {
  /** The most that a block of an H200 may ask for. */
  private static final int MOST_SHARED_BYTES = 227 << 10;

  /** Checks the size of the launch, as a driver does. */
  public Grid {
    boolean fits = threads > 0 && threads <= program.mostThreads() && blocks > 0;
    if (!fits || sharedBytes > MOST_SHARED_BYTES) {
      throw new PtxFault(
          "%d blocks of %d threads with %d bytes of shared memory cannot be launched"
              .formatted(blocks, threads, sharedBytes));
    }
    if (parameters.length != program.parameterBytes()) {
      throw new PtxFault(
          "%d bytes of parameters, the kernel takes %d"
              .formatted(parameters.length, program.parameterBytes()));
    }
  }

  /** Runs all threads. */
  public void run() {
    global.begin();
    for (int b = 0; b < blocks; b++) {
      new Block(this, reversed ? blocks - 1 - b : b).run();
    }
  }

  void count(Instruction instruction, int threads) {
    work.add(instruction, threads);
  }
}
