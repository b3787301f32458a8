package io.github.rmsnorm4j.cli;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** Asks the C library what the JDK says only of standard input and output together. */
public final class Terminal {
  private static final int STANDARD_ERROR = 2;

  private Terminal() {}

  /** Whether somebody is looking at standard error. Takes a few milliseconds. */
  @SuppressWarnings("restricted") // Refused, it would only print a warning; then we do not ask.
  public static boolean isStandardError() {
    if (!Terminal.class.getModule().isNativeAccessEnabled()) {
      return false;
    }
    Linker linker = Linker.nativeLinker();
    Optional<MemorySegment> isatty =
        linker.defaultLookup().find("isatty").or(() -> linker.defaultLookup().find("_isatty"));
    if (isatty.isEmpty()) {
      return false;
    }
    try {
      return (int)
              linker
                  .downcallHandle(
                      isatty.get(),
                      FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                  .invokeExact(STANDARD_ERROR)
          != 0;
    } catch (Throwable e) {
      throw new IllegalStateException("isatty cannot be called", e);
    }
  }
}
