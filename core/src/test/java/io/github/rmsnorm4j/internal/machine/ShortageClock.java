package io.github.rmsnorm4j.internal.machine;

/** The time that a shortage counts in a process of a test: it stands still until it is told. */
public final class ShortageClock {
  private static final long SECOND = 1_000_000_000;

  private static volatile long now;

  private ShortageClock() {}

  public static void stop() {
    Shortage.clock = () -> now;
  }

  /** All but a nanosecond of the second that a shortage lasts. */
  public static void almostPasses() {
    now += SECOND - 1;
  }

  public static void passes() {
    now++;
  }
}
