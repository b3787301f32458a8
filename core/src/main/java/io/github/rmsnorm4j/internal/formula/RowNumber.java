package io.github.rmsnorm4j.internal.formula;

/** The per-row scalars, in float64: statistics and row sums. */
public enum RowNumber {
  /** The first element of the row, which LayerNorm subtracts from each element before it sums. */
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
  /** m, the mean of h * xh. */
  M("m"),
  /** c, the mean of h; LayerNorm only. */
  C("c");

  /** The number of constants. */
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
