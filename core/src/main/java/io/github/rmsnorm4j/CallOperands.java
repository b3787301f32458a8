package io.github.rmsnorm4j;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Checks the operands of a call, each by itself and each that is written against all others. It is
 * done once, before anything is written; the kernels rely on it.
 */
interface CallOperands {
  /** Rows, {@link QuantizedRows}, float[] or double[]; null if the call has no such operand. */
  @Nullable Object of(CallOperand operand);

  /**
   * Checks all operands.
   *
   * @param all the first one is there
   */
  default void check(Norm norm, List<CallOperand> all) {
    CallOperand first = all.getFirst();
    Rows base = (Rows) NormArguments.requireNonNull(of(first), first.toString());
    for (int i = 0; i < all.size(); i++) {
      CallOperand operand = all.get(i);
      Object memory = of(operand);
      if (memory instanceof Rows rows) {
        checkRows(norm, operand, rows, first, base);
      } else if (memory instanceof QuantizedRows q) {
        requireWidth(operand.toString(), q.width(), norm.width());
        checkCodes(q, base);
      }
    }
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).isWritten()) {
        requireApart(all, i);
      }
    }
  }

  private static void checkRows(
      Norm norm, CallOperand operand, Rows rows, CallOperand first, Rows base) {
    if (operand == CallOperand.GAIN || operand == CallOperand.BIAS) {
      NormArguments.checkParameter(rows, norm, base.rows(), operand.toString());
    } else {
      requireWidth(operand, rows, norm.width());
      requireLike(operand, rows, first, base);
    }
  }

  /** Checks the operands of a call without any others, as {@link #check(Norm, List)} does. */
  static void check(int width, Rows x, @Nullable Rows residual, Rows y) {
    requireWidth(CallOperand.X, x, width);
    requireWidth(CallOperand.Y, y, width);
    requireLike(CallOperand.X, x, CallOperand.X, x);
    requireLike(CallOperand.Y, y, CallOperand.X, x);
    requireApart(CallOperand.Y, y, CallOperand.X, x);
    if (residual != null) {
      requireWidth(CallOperand.RESIDUAL, residual, width);
      requireLike(CallOperand.RESIDUAL, residual, CallOperand.X, x);
      requireApart(CallOperand.RESIDUAL, residual, CallOperand.X, x);
      requireApart(CallOperand.Y, y, CallOperand.RESIDUAL, residual);
    }
  }

  /** Rows must be as many as the first operand has. */
  static void requireLike(CallOperand operand, Rows rows, CallOperand first, Rows base) {
    requireSame(rows.rows(), base.rows(), "%s has %d rows, %s has %d", operand, first);
    if (operand.isOfOneArithmetic()) {
      requireArithmetic(operand, rows, first, base);
    }
    if (operand.isWritten() && rows.segment().isReadOnly()) {
      throw new IllegalArgumentException(operand + " is read-only, it must be writable");
    }
    NormArguments.requireAccess(rows, operand.toString());
  }

  static void requireArithmetic(CallOperand operand, Rows rows, CallOperand first, Rows base) {
    if ((rows.type() == ElementType.FLOAT64) != (base.type() == ElementType.FLOAT64)) {
      throw new IllegalArgumentException(
          (operand + " is " + rows.type() + ", " + first + " is " + base.type())
              + ": both must be float64, or neither");
    }
  }

  static void requireWidth(CallOperand operand, @Nullable Rows rows, int width) {
    String name = operand.toString();
    requireWidth(name, NormArguments.requireNonNull(rows, name).width(), width);
  }

  private static void requireWidth(String name, int of, int width) {
    if (of != width) {
      throw new IllegalArgumentException(
          name + " has rows " + of + " wide, the norm is " + width + " wide");
    }
  }

  /** Every call comes here, so the names are no varargs: these would be an array each time. */
  private static void requireSame(
      long of, long other, String message, CallOperand name, CallOperand otherName) {
    if (of != other) {
      throw new IllegalArgumentException(
          String.format(Locale.ROOT, message, name, of, otherName, other)
              + ": they must be the same");
    }
  }

  private static void requireWritable(MemorySegment memory, String otherwise) {
    if (memory.isReadOnly()) {
      throw new IllegalArgumentException(otherwise);
    }
  }

  /** Checks codes and scales that take rows of x. */
  static void checkCodes(QuantizedRows q, Rows x) {
    requireShape(CallOperand.Q, q.width(), q.rows(), CallOperand.X, x.width(), x.rows());
    requireWritable(q.codes(), "codes of q are read-only, they must be writable");
    if (q.scales() != null) {
      requireWritable(q.scales(), "scales of q are read-only, they must be writable");
    }
    requireAccess(q);
    if (Overlap.codesAndScales(q)) {
      throw new IllegalArgumentException(
          "codes of q overlap its scales: each must be memory of its own");
    }
  }

  /** Checks rows that become codes as they are. */
  static void checkQuantized(Rows x, QuantizedRows q) {
    NormArguments.requireNonNull(x, "x");
    checkCodes(NormArguments.requireNonNull(q, "q"), x);
    NormArguments.requireAccess(x, "x");
    requireApart(CallOperand.Q, q, CallOperand.X, x);
  }

  /** Checks rows that take the elements of codes. */
  static void checkDequantized(QuantizedRows q, Rows y) {
    NormArguments.requireNonNull(y, "y");
    requireShape(CallOperand.Y, y.width(), y.rows(), CallOperand.Q, q.width(), q.rows());
    requireWritable(y.segment(), "y is read-only, it must be writable");
    NormArguments.requireAccess(y, "y");
    requireAccess(q);
    requireApart(CallOperand.Y, y, CallOperand.Q, q);
  }

  private static void requireShape(
      CallOperand of, int width, long rows, CallOperand other, int otherWidth, long otherRows) {
    requireSame(width, otherWidth, "%s has rows %d wide, %s is %d wide", of, other);
    requireSame(rows, otherRows, "%s has %d rows, %s has %d", of, other);
  }

  private static void requireAccess(QuantizedRows q) {
    NormArguments.requireAccess(q.codes(), "codes of q", "are");
    if (q.scales() != null) {
      NormArguments.requireAccess(q.scales(), "scales of q", "are");
    }
  }

  private void requireApart(List<CallOperand> all, int i) {
    CallOperand operand = all.get(i);
    Object written = of(operand);
    for (int k = 0; written != null && k < all.size(); k++) {
      CallOperand other = all.get(k);
      // A pair of which both are written is looked at once.
      if (k != i && (k < i || !other.isWritten())) {
        requireApart(operand, written, other, of(other));
      }
    }
  }

  /** What is written shares no memory with another operand, unless it is the same rows. */
  static void requireApart(
      CallOperand operand, @Nullable Object written, CallOperand other, @Nullable Object memory) {
    if (written == null || memory == null || !Overlap.any(written, memory)) {
      return;
    }
    if (!operand.mayBe(other)) {
      throw new IllegalArgumentException(
          operand + " overlaps " + other + ": each must be memory of its own");
    }
    if (!Overlap.isInPlace((Rows) written, (Rows) memory)) {
      throw new IllegalArgumentException(
          operand + " overlaps " + other + ": they must be the same rows, or share no memory");
    }
  }
}
