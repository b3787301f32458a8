package io.github.rmsnorm4j.internal.norm;

/**
 * The start of a process. The first kernel takes time: for machine code most of it is the JVM's
 * first native call, and vectors must be loaded, generated and compiled. docs/performance.md has
 * cold starts. In that time plain Java normalises many MiB. So the first elements of a process take
 * plain Java, which gives the same bits.
 */
public final class StartUp {
  /** About as many elements as plain Java normalises in the time that the first kernel takes. */
  public static final long ELEMENTS = 1 << 22;

  /** Counted without synchronisation: the exact end of the start does not matter. */
  private static long elements;

  private StartUp() {}

  /** Whether a call of so many elements still takes plain Java. */
  static boolean covers(long elements) {
    long before = StartUp.elements;
    if (before >= ELEMENTS) {
      return false;
    }
    StartUp.elements = before + elements;
    return elements <= ELEMENTS;
  }
}
