package io.github.rmsnorm4j.cli;

import java.io.File;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Ansi.Style;

/** Asks the C library what the JDK says only of standard input and output together. */
public final class Terminal {
  static final int STANDARD_OUTPUT = 1;
  static final int STANDARD_ERROR = 2;

  private Terminal() {}

  /** Whether somebody is looking at standard error. Takes a few milliseconds. */
  public static boolean isStandardError() {
    return isTerminal(STANDARD_ERROR);
  }

  /** Whether what is written to a standard stream may have colors. */
  static Ansi colors(int stream) {
    return colors(System.getenv(), () -> isTerminal(stream));
  }

  /** As no-color.org and bixense.com/clicolors have it. */
  static Ansi colors(Map<String, String> environment, BooleanSupplier terminal) {
    if (!environment.getOrDefault("NO_COLOR", "").isEmpty()) {
      return Ansi.OFF;
    }
    if (!environment.getOrDefault("CLICOLOR_FORCE", "0").matches("0?")) {
      return Ansi.ON;
    }
    boolean refused =
        "0".equals(environment.get("CLICOLOR")) || "dumb".equals(environment.get("TERM"));
    // The old console of Windows shows the codes themselves.
    boolean known =
        File.separatorChar == '/'
            || environment.containsKey("WT_SESSION")
            || environment.containsKey("TERM");
    return Ansi.valueOf(!refused && known && terminal.getAsBoolean());
  }

  /** An error for standard error: red where it may have colors. */
  static String error(String line) {
    return color(Style.fg_red, STANDARD_ERROR).apply(line);
  }

  /** Colors lines for a standard stream, where it may have colors: a warning is yellow. */
  static UnaryOperator<String> color(Style color, int stream) {
    boolean colored = colors(stream).enabled();
    return line -> colored ? Style.on(color) + line + Style.off(color) : line;
  }

  @SuppressWarnings("restricted") // Refused, it would only print a warning; then we do not ask.
  private static boolean isTerminal(int stream) {
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
                  .invokeExact(stream)
          != 0;
    } catch (Throwable e) {
      throw new IllegalStateException("isatty cannot be called", e);
    }
  }
}
