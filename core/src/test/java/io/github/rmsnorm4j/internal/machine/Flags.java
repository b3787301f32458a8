package io.github.rmsnorm4j.internal.machine;

/** What jumps depend on, as far as the instruction before leaves it defined. */
final class Flags {
  private boolean zero;
  private boolean carry;

  private boolean knowsZero;
  private boolean knowsCarry;

  private void set(boolean zero, boolean carry) {
    this.zero = zero;
    this.carry = carry;
    knowsZero = true;
    knowsCarry = true;
  }

  /** Of a difference. Numbers of fewer bits have their sign in front. */
  void compared(long left, long right) {
    set(left == right, Long.compareUnsigned(left, right) < 0);
  }

  /** Of a sum of so many bits. */
  void added(long left, long right, int bits) {
    int above = Long.SIZE - bits;
    long a = left << above;
    long sum = a + (right << above);
    set(sum == 0, Long.compareUnsigned(sum, a) < 0);
  }

  /** Of a result that is made bit by bit. */
  void combined(long value) {
    set(value == 0, false);
  }

  /** Of two masks of 16 bits together. */
  void tested(int masks) {
    set(masks == 0, masks == 0xffff);
  }

  /** Of a shift: its carry, a bit that is shifted out, is not kept here. */
  void shifted(long value) {
    combined(value);
    knowsCarry = false;
  }

  /** Of a product. */
  void undefined() {
    knowsZero = false;
    knowsCarry = false;
  }

  /** Whether a jump is taken. */
  boolean holds(GeneralOp jump) {
    boolean ofZero = jump == GeneralOp.JE || jump == GeneralOp.JNE;
    if (jump != GeneralOp.JMP && !(ofZero ? knowsZero : knowsCarry)) {
      throw new AssertionError("the instruction before leaves this condition undefined");
    }
    return switch (jump) {
      case JMP -> true;
      case JB -> carry;
      case JAE -> !carry;
      case JE -> zero;
      case JNE -> !zero;
      case JBE -> carry || zero;
      case JA -> !carry && !zero;
      default -> throw new AssertionError(jump + " is not interpreted");
    };
  }
}
