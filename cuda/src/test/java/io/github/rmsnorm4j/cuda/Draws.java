package io.github.rmsnorm4j.cuda;

import java.util.Set;
import java.util.function.Supplier;

/** How many calls a test draws. */
final class Draws {
  private static final boolean ALL = Boolean.getBoolean("tests.all");

  private Draws() {}

  /** Whether a call of a list is made: by default every second one. */
  static boolean isInTurn(int call) {
    return ALL || call % 2 == 0;
  }

  /**
   * Whether there is another draw: all of them with {@code -Dtests.all=true}; by default a third,
   * and more until everything is reached.
   */
  static boolean goOn(int draw, int most, Supplier<Set<String>> missing) {
    return draw < most && (ALL || draw < most / 3 || !missing.get().isEmpty());
  }
}
