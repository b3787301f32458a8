package io.github.rmsnorm4j;

/**
 * Memory between guard pages for each of the rows of a call, and for its gain and bias.
 *
 * @param second of the residual, or of the gate
 */
record GuardedMemories(
    GuardedMemory x,
    GuardedMemory y,
    GuardedMemory second,
    GuardedMemory dx,
    GuardedMemory dz,
    GuardedMemory gain,
    GuardedMemory bias)
    implements AutoCloseable {
  /** At most so many bytes for each of them. */
  static GuardedMemories of(long bytes) {
    return new GuardedMemories(
        new GuardedMemory(bytes),
        new GuardedMemory(bytes),
        new GuardedMemory(bytes),
        new GuardedMemory(bytes),
        new GuardedMemory(bytes),
        new GuardedMemory(bytes),
        new GuardedMemory(bytes));
  }

  @Override
  public void close() {
    x.close();
    y.close();
    second.close();
    dx.close();
    dz.close();
    gain.close();
    bias.close();
  }
}
