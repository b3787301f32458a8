package io.github.rmsnorm4j.internal.machine;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls native functions with up to six integers. The JVM makes classes for every kind of call,
 * which takes milliseconds. So all functions are called with six longs. A function with fewer
 * parameters ignores the rest; for an int parameter it takes the lower half.
 */
public final class NativeCall {
  private static final Downcall LONGS =
      new Downcall(false, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

  /** Loaded after the first call, which made the handle. */
  public static final class OfLongs {
    /** {@code long call(MemorySegment function, long, long, long, long, long, long)}. */
    public static final MethodHandle HANDLE = LONGS.handle();

    private OfLongs() {}
  }

  private NativeCall() {}

  /** Calls a function with three arguments at most. */
  static long of(MemorySegment function, long a, long b, long c) {
    return of(function, a, b, c, 0, 0, 0);
  }

  static long of(MemorySegment function, long a, long b, long c, long d, long e, long f) {
    LONGS.make();
    try {
      return (long) OfLongs.HANDLE.invokeExact(function, a, b, c, d, e, f);
    } catch (RuntimeException | Error failure) {
      throw failure;
    } catch (Throwable failure) {
      throw new IllegalStateException(failure);
    }
  }
}
