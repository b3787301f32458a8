package io.github.rmsnorm4j.models.transformer;

/**
 * Which positions of its sequences a pass is for: all of them, or those that follow the passes
 * before it.
 */
final class Positions {
  /** The longest that a sequence may become. */
  final int capacity;

  /** Whether a pass continues the one before it, whose keys and values are then kept. */
  final boolean continued;

  private int past;

  Positions(int capacity, boolean continued) {
    this.capacity = capacity;
    this.continued = continued;
  }

  /** How many positions lie before those of the next pass. */
  int past() {
    return past;
  }

  /** A pass over so many positions is done. */
  void advance(int positions) {
    past += continued ? positions : 0;
  }

  /** The next pass begins a new sequence. */
  void restart() {
    past = 0;
  }
}
