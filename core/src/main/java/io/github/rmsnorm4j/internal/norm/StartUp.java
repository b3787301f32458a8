package io.github.rmsnorm4j.internal.norm;

/**
 * The start of a process. The first kernel takes a while: machine code about a tenth of a second,
 * most of it the JVM's first native call, and vectors a third of one until they are loaded, made
 * and compiled. In that time plain Java normalises many MiB. So the first elements of a process go
 * through plain Java, which has the same bits.
 */
public final class StartUp {
  /** Plain Java normalises about so many elements in the time that the first kernel takes. */
  public static final long ELEMENTS = 1 << 22;

  /** Counted without care: it does not matter when exactly the start is over. */
  private static long elements;

  private StartUp() {}

  /** Whether a call of so many elements is still for plain Java. */
  static boolean covers(long elements) {
    long before = StartUp.elements;
    if (before >= ELEMENTS) {
      return false;
    }
    StartUp.elements = before + elements;
    return elements <= ELEMENTS;
  }
}
