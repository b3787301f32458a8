package io.github.rmsnorm4j.internal.machine;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls native functions with up to six integers. The JVM makes classes for every kind of call,
 * which takes milliseconds. So all functions are called with six longs. A function with fewer
 * parameters ignores the rest; for an int parameter it takes the lower half.
 */
public final class NativeCall {
  /** {@code long call(MemorySegment function, long, long, long, long, long, long)}. */
  public static final MethodHandle HANDLE = handle();

  private NativeCall() {}

  @SuppressWarnings("restricted")
  private static MethodHandle handle() {
    return Linker.nativeLinker()
        .downcallHandle(
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  }

  /** Calls a function with three arguments at most. */
  static long of(MemorySegment function, long a, long b, long c) {
    return of(function, a, b, c, 0, 0, 0);
  }

  static long of(MemorySegment function, long a, long b, long c, long d, long e, long f) {
    try {
      return (long) HANDLE.invokeExact(function, a, b, c, d, e, f);
    } catch (RuntimeException | Error failure) {
      throw failure;
    } catch (Throwable failure) {
      throw new IllegalStateException(failure);
    }
  }
}
