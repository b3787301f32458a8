package io.github.rmsnorm4j.internal.formula;

/** What is known of a row as a whole: a float64 number per row. */
public enum RowNumber {
  /** What is taken off each element before LayerNorm's sums: the row's first element. */
  SHIFT("x0"),
  /** Row sum of x - x0. */
  SUM("S1"),
  /** Row sum of the squares. */
  SQUARES("S2"),
  MEAN("mean"),
  ROOT("root"),
  RSTD("rstd"),
  /** Row sum of h * xh. */
  PRODUCT("P"),
  /** Row sum of h. */
  SLOPE("H"),
  /** Mean of (x - x0) * s. */
  SCALED_MEAN("M"),
  /** What dx takes off for the root: the mean of h * xh. */
  M("m"),
  /** What dx takes off for LayerNorm's mean: the mean of h. */
  C("c");

  /** How many there are. */
  public static final int COUNT = values().length;

  private final String letter;

  RowNumber(String letter) {
    this.letter = letter;
  }

  @Override
  public String toString() {
    return letter;
  }
}
