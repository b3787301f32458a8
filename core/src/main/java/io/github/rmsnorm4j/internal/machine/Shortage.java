package io.github.rmsnorm4j.internal.machine;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether there was no memory for machine code a moment ago. That may pass, so it is tried again
 * after a second. Other kernels serve the calls until then, with the same bits.
 */
public final class Shortage {
  public static final String MESSAGE = "there is no memory for machine code at the moment";

  private static final long PAUSE_NANOS = 1_000_000_000L;

  /** The time in nanoseconds; another one in tests. */
  static volatile LongSupplier clock = System::nanoTime;

  /** When there was none; null for never. */
  private static volatile @Nullable Long since;

  private Shortage() {}

  /** {@return whether it is too early to try again} */
  public static boolean lasts() {
    return isSince(PAUSE_NANOS);
  }

  /** {@return whether that is why there was no kernel just now} */
  public static boolean wasLately() {
    return isSince(2 * PAUSE_NANOS);
  }

  private static boolean isSince(long nanos) {
    Long last = since;
    return last != null && clock.getAsLong() - last < nanos;
  }

  /**
   * Notes that there was no memory. The first time it warns, if there is memory for that.
   *
   * @param error what the system said: also that a class, whose initialiser got no memory, is not
   *     there
   */
  public static synchronized void note(Error error) {
    boolean warns = since == null;
    since = clock.getAsLong();
    if (!warns) {
      return;
    }
    try {
      System.getLogger("io.github.rmsnorm4j")
          .log(System.Logger.Level.WARNING, "{0}: {1}", MESSAGE, error.getMessage());
    } catch (OutOfMemoryError e) {
      // The call goes on without machine code, and says nothing.
    }
  }
}
