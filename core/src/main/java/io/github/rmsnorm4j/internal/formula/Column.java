package io.github.rmsnorm4j.internal.formula;

/** Numbers that every row of a call shares, one per column. */
public enum Column {
  GAIN("gain"),
  BIAS("bias"),
  GAIN_GRADIENT("dgain"),
  BIAS_GRADIENT("dbias");

  /** How many there are. */
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
