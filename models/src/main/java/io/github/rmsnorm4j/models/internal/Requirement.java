package io.github.rmsnorm4j.models.internal;

/** What an argument must be, with one message for all of them. */
public final class Requirement {
  private Requirement() {}

  /**
   * Checks an argument.
   *
   * @param holds whether it is as it must be
   * @param name its name
   * @param value what it is
   * @param must what it must do, for example {@code be at least 1}
   * @throws IllegalArgumentException if it is not
   */
  public static void require(boolean holds, String name, Object value, String must) {
    if (!holds) {
      throw new IllegalArgumentException(name + " is " + value + ", it must " + must);
    }
  }

  /**
   * Checks the range of an argument.
   *
   * @param name its name
   * @param value what it is
   * @param least the least that it may be
   * @param most the most that it may be
   * @throws IllegalArgumentException if it is out of this range
   */
  public static void requireBetween(String name, long value, int least, int most) {
    require(value >= least && value <= most, name, value, "be between " + least + " and " + most);
  }
}
