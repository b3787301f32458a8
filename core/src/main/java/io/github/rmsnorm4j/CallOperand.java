package io.github.rmsnorm4j;

import java.util.List;

/** An operand of a call: its name in messages, and what it may share memory with. */
enum CallOperand {
  X("x"),
  RESIDUAL("residual", true),
  Z("z"),
  Y("y", true, X, Z),
  GAIN("gain"),
  BIAS("bias"),
  Q("q", true),
  LENGTH("length", true),
  MEAN("mean", true),
  RSTD("rstd", true),
  SUMS("sums", true),

  /** The input or output of the forward pass. */
  KEPT("what was kept"),
  KEPT_MEAN("the kept mean"),
  KEPT_RSTD("the kept rstd"),
  DY("dy"),
  DRESIDUAL("dresidual"),
  DX("dx", true, DY, DRESIDUAL),
  DZ("dz", true, DY),
  DGAIN("dgain", true),
  DBIAS("dbias", true);

  /** The rows of forward calls. */
  static final List<CallOperand> ROWS = List.of(X, RESIDUAL, Z, Y, GAIN, BIAS);

  /** The operands of forward calls; a call lacks some. */
  static final List<CallOperand> FORWARD =
      List.of(X, RESIDUAL, Z, Y, GAIN, BIAS, Q, LENGTH, MEAN, RSTD);

  /** The operands of backward calls; a call lacks some. */
  static final List<CallOperand> BACKWARD =
      List.of(KEPT, Z, DY, DRESIDUAL, DX, DZ, GAIN, BIAS, KEPT_MEAN, KEPT_RSTD, DGAIN, DBIAS);

  private final String title;
  private final boolean written;
  private final CallOperand[] inPlace;

  CallOperand(String title) {
    this(title, false);
  }

  /**
   * An operand.
   *
   * @param inPlace what it may be the same rows as
   */
  CallOperand(String title, boolean written, CallOperand... inPlace) {
    this.title = title;
    this.written = written;
    this.inPlace = inPlace;
  }

  /** Whether the call writes it. */
  boolean isWritten() {
    return written;
  }

  /** Whether it may be the same rows as another operand. */
  boolean mayBe(CallOperand other) {
    for (CallOperand of : inPlace) {
      if (of == other) {
        return true;
      }
    }
    return false;
  }

  /** Whether it is float64 if the first operand is, and only then; an output is of any type. */
  boolean isOfOneArithmetic() {
    return this != Y;
  }

  @Override
  public String toString() {
    return title;
  }
}
