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

  /** How often in a process a class may be missing because of a shortage. */
  private static final int MOST_EXCUSES = 8;

  private static int excuses;

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
   * Whether an exception may come of a shortage before: a class is not there whose initialiser had
   * no memory. Then it is one more shortage, and a later try may do without that class.
   */
  public static synchronized boolean explains(Throwable thrown) {
    boolean may = thrown instanceof NoClassDefFoundError && since != null;
    if (may && ++excuses <= MOST_EXCUSES) {
      since = clock.getAsLong();
      return true;
    }
    return false;
  }

  /**
   * Does nothing, unless a shortage explains an exception.
   *
   * @throws OutOfMemoryError if it does
   */
  public static void requireNone(Throwable thrown) {
    if (explains(thrown)) {
      throw new OutOfMemoryError(thrown.getMessage());
    }
  }

  /**
   * Notes that there was no memory. The first time it warns, if there is memory for that.
   *
   * @param error what the system said
   */
  public static synchronized void note(OutOfMemoryError error) {
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
