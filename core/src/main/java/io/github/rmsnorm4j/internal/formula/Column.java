package io.github.rmsnorm4j.internal.formula;

/** Numbers that all rows of a call share, one per column. */
public enum Column {
  GAIN("gain"),
  BIAS("bias"),
  GAIN_GRADIENT("dgain"),
  BIAS_GRADIENT("dbias");

  /** The number of constants. */
  public static final int COUNT = values().length;

  private final String letter;

  Column(String letter) {
    this.letter = letter;
  }

  @Override
  public String toString() {
    return letter;
  }
}
