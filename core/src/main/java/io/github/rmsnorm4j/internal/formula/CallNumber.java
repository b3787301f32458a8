package io.github.rmsnorm4j.internal.formula;

/** Float64 numbers that a whole call shares. */
public enum CallNumber {
  /** The number of elements of the statistic: the width, or the part of a partial norm. */
  K("k"),
  EPSILON("eps"),
  /** The power of two by which elements of a row out of the range of float64 are multiplied. */
  SCALE("s");

  /** The number of constants. */
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
