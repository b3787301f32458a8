package io.github.rmsnorm4j;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Checks the quantised rows of a call before anything is written. */
final class QuantizedArguments {
  private QuantizedArguments() {}

  /** Checks the arguments of a norm that are not checked as those of other calls. */
  static void check(int width, Rows x, @Nullable Rows residual, QuantizedRows q) {
    NormArguments.requireNonNull(q, "q");
    NormArguments.requireNonNull(x, "x");
    if (q.width() != width) {
      throw new IllegalArgumentException(
          "q has rows " + q.width() + " wide, the norm is " + width + " wide");
    }
    check(x, q);
    requireApart(residual, q, "residual");
  }

  /** Checks rows that are quantised, and where they go. */
  static void check(Rows x, QuantizedRows q) {
    requireShape(NormArguments.requireNonNull(x, "x"), q);
    requireWritable(q.codes(), "codes of q are read-only, they must be writable");
    NormArguments.requireAccess(x, "x");
    requireAccess(q);
    if (q.scales() != null) {
      requireWritable(q.scales(), "scales of q are read-only, they must be writable");
      if (Overlap.any(
          q.codes(),
          q.rows(),
          q.type().rowBytes(q.width()),
          q.codeStride(),
          q.scales(),
          q.rows(),
          scaleBytes(q),
          q.scaleStride() * Float.BYTES)) {
        throw new IllegalArgumentException(
            "codes of q overlap its scales: each must be memory of its own");
      }
    }
    requireApart(x, q, "x");
  }

  /** Checks rows that take the elements of quantised rows. */
  static void checkDequantized(QuantizedRows q, Rows y) {
    NormArguments.requireNonNull(y, "y");
    requireSame(y.width(), q.width(), "y has rows %d wide, q is %d wide: they must be the same");
    requireSame(y.rows(), q.rows(), "y has %d rows, q has %d: they must be the same");
    requireWritable(y.segment(), "y is read-only, it must be writable");
    NormArguments.requireAccess(y, "y");
    requireAccess(q);
    requireApart(y, q, "y");
  }

  static void requireThreads(int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads is " + threads + ", it must be at least 1");
    }
  }

  private static void requireShape(Rows x, QuantizedRows q) {
    NormArguments.requireNonNull(q, "q");
    requireSame(q.width(), x.width(), "q has rows %d wide, x is %d wide: they must be the same");
    requireSame(q.rows(), x.rows(), "q has %d rows, x has %d: they must be the same");
  }

  private static void requireSame(long of, long other, String message) {
    if (of != other) {
      throw new IllegalArgumentException(String.format(Locale.ROOT, message, of, other));
    }
  }

  private static void requireWritable(MemorySegment memory, String otherwise) {
    if (memory.isReadOnly()) {
      throw new IllegalArgumentException(otherwise);
    }
  }

  private static void requireAccess(QuantizedRows q) {
    NormArguments.requireAccess(q.codes(), "codes of q", "are");
    if (q.scales() != null) {
      NormArguments.requireAccess(q.scales(), "scales of q", "are");
    }
  }

  /** Rows of a call must share nothing with codes and scales. */
  static void requireApart(@Nullable Rows rows, QuantizedRows q, String name) {
    if (rows == null) {
      return;
    }
    long codeBytes = q.type().rowBytes(q.width());
    if (Overlap.any(q.codes(), q.rows(), codeBytes, q.codeStride(), rows)) {
      throw new IllegalArgumentException(
          "codes of q overlap " + name + ": they must be memory of their own");
    }
    long stride = q.scaleStride() * Float.BYTES;
    if (q.scales() != null && Overlap.any(q.scales(), q.rows(), scaleBytes(q), stride, rows)) {
      throw new IllegalArgumentException(
          "scales of q overlap " + name + ": they must be memory of their own");
    }
  }

  private static long scaleBytes(QuantizedRows q) {
    return (long) q.type().scales(q.width()) * Float.BYTES;
  }

  /** Whether other threads than the caller's may access the codes and scales. */
  static boolean isOfAnyThread(QuantizedRows q) {
    return CallMemory.isOfAnyThread(q.codes())
        && (q.scales() == null || CallMemory.isOfAnyThread(q.scales()));
  }

  /** Whether they may access the rows, too. */
  static boolean isOfAnyThread(Rows x, QuantizedRows q) {
    return CallMemory.isOfAnyThread(x.segment()) && isOfAnyThread(q);
  }
}
