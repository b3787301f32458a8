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

  private SharedMemory() {}

  /** The bytes that a block of threads may have on a device: a third of a multiprocessor's. */
  static int ofBlock(DriverLibrary library, int device) {
    int most = (int) library.ask(EntryPoint.DEVICE_GET_ATTRIBUTE, MOST_OF_BLOCK, device);
    int all = (int) library.ask(EntryPoint.DEVICE_GET_ATTRIBUTE, OF_MULTIPROCESSOR, device);
    return Math.max(LEAST, Math.min(most, all / BLOCKS - RESERVED));
  }
}
