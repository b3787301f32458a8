package io.github.rmsnorm4j.internal.formula;

/** Float64 numbers that a whole call shares. */
public enum CallNumber {
  /** Elements that the statistic is of: the width, or the part of a partial norm. */
  K("k"),
  EPSILON("eps"),
  /** The power of two that elements of a row out of float64's range are multiplied by. */
  SCALE("s");

  /** How many there are. */
  public static final int COUNT = values().length;

  private final String letter;

  CallNumber(String letter) {
    this.letter = letter;
  }

  @Override
  public String toString() {
    return letter;
  }
}
