package io.github.rmsnorm4j.cuda.driver;

/** How much shared memory kernels take. */
public final class SharedMemory {
  /** Bytes that a block of threads may have on every device without being asked for more. */
  public static final int LEAST = 48 << 10;

  // Of CUdevice_attribute.
  private static final int OF_MULTIPROCESSOR = 81;
  private static final int MOST_OF_BLOCK = 97;

  /** Blocks of threads that a multiprocessor has at once, so that some wait while others work. */
  private static final int BLOCKS = 3;

  /** What the driver takes of each block. */
  private static final int RESERVED = 1 << 10;

  /** Shared memory is given in such steps. */
  private static final int UNIT = 128;

  private SharedMemory() {}

  /** The bytes that a block of threads may have on a device. */
  static int ofBlock(DriverLibrary library, int device) {
    return ofBlock(
        (int) library.ask(EntryPoint.DEVICE_GET_ATTRIBUTE, MOST_OF_BLOCK, device),
        (int) library.ask(EntryPoint.DEVICE_GET_ATTRIBUTE, OF_MULTIPROCESSOR, device));
  }

  /**
   * A third of a multiprocessor's.
   *
   * @param most that a block may ask for
   * @param all of a multiprocessor
   */
  static int ofBlock(int most, int all) {
    int third = (all / BLOCKS - RESERVED) & -UNIT;
    return Math.max(LEAST, Math.min(most, third));
  }
}
