package io.github.rmsnorm4j.models.transformer;

/** What an argument must be, with one message for all of them. */
final class Requirement {
  private Requirement() {}

  static void require(boolean holds, String name, Object value, String must) {
    if (!holds) {
      throw new IllegalArgumentException(name + " is " + value + ", it must " + must);
    }
  }

  static void requireBetween(String name, long value, int least, int most) {
    require(value >= least && value <= most, name, value, "be between " + least + " and " + most);
  }
}
