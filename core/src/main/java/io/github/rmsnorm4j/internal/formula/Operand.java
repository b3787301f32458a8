package io.github.rmsnorm4j.internal.formula;

/** The rows of a call, with the names of docs/numerics.md. */
public enum Operand {
  /** Forward: the input. Backward: the rows that were kept, input or output. */
  X("x"),
  /** Forward: the residual. Backward: the gradient that is added to dx. */
  RESIDUAL("residual"),
  Y("y"),
  DY("dy"),
  DX("dx");

  /** The number of constants. */
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
