package io.github.rmsnorm4j.internal.formula;

/** Rows of a call, by the letter that the formulas of docs/numerics.md have for them. */
public enum Operand {
  /** What is normalised; going back, what was kept: the input or the output. */
  X("x"),
  /** What x is added to; going back, the gradient that is added to dx. */
  RESIDUAL("residual"),
  Y("y"),
  DY("dy"),
  DX("dx");

  /** How many there are. */
  public static final int COUNT = values().length;

  private final String letter;

  Operand(String letter) {
    this.letter = letter;
  }

  @Override
  public String toString() {
    return letter;
  }
}
