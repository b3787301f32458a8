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

  /**
   * The same before the first Java loops, which are not as much faster than plain Java: most of
   * their time goes into the JDK's first class file.
   */
  public static final long ELEMENTS_BEFORE_LOOPS = 1 << 26;

  /** Counted without synchronisation: the exact end of the start does not matter. */
  private static long elements;

  private StartUp() {}

  /** Whether the first kernel pays for a call of so many elements, unless it is of loops. */
  static boolean isOverForKernels(long elements) {
    return StartUp.elements >= ELEMENTS || elements > ELEMENTS;
  }

  /**
   * Whether a call of so many elements still takes plain Java.
   *
   * @param most the elements of the start
   */
  static boolean covers(long elements, long most) {
    long before = StartUp.elements;
    if (before >= most) {
      return false;
    }
    StartUp.elements = before + elements;
    return elements <= most;
  }
}
