package io.github.rmsnorm4j.internal.machine;

/** What jumps depend on, as far as the instruction before leaves it defined. */
final class Flags {
  private boolean zero;
  private boolean carry;

  /** Whether the exact result is negative: the sign differs from the overflow. */
  private boolean less;

  private boolean knowsZero;
  private boolean knowsOrder;

  private void set(boolean zero, boolean carry, boolean less) {
    this.zero = zero;
    this.carry = carry;
    this.less = less;
    knowsZero = true;
    knowsOrder = true;
  }

  /** Of a difference. Numbers of fewer bits have their sign in front. */
  void compared(long left, long right) {
    set(left == right, Long.compareUnsigned(left, right) < 0, left < right);
  }

  /** Of a sum of so many bits. */
  void added(long left, long right, int bits) {
    int above = Long.SIZE - bits;
    long a = left << above;
    long b = right << above;
    long sum = a + b;
    boolean overflows = ((a ^ sum) & (b ^ sum)) < 0;
    set(sum == 0, Long.compareUnsigned(sum, a) < 0, sum < 0 != overflows);
  }

  /** Of a result that is made bit by bit. */
  void combined(long value) {
    set(value == 0, false, value < 0);
  }

  /** Of two masks of 16 bits together. */
  void tested(int masks) {
    set(masks == 0, masks == 0xffff, false);
  }

  /** Of a shift: what the order of its operands would be is not defined for every count. */
  void shifted(long value) {
    combined(value);
    knowsOrder = false;
  }

  /** Of a product. */
  void undefined() {
    knowsZero = false;
    knowsOrder = false;
  }

  /** Whether a jump is taken. */
  boolean holds(GeneralOp jump) {
    boolean ofZero = jump == GeneralOp.JE || jump == GeneralOp.JNE;
    if (jump != GeneralOp.JMP && !(ofZero ? knowsZero : knowsOrder)) {
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
      case JL -> less;
      case JGE -> !less;
      case JLE -> less || zero;
      case JG -> !less && !zero;
      default -> throw new AssertionError(jump + " is not interpreted");
    };
  }
}
