package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;

/** What machine code a call is for. */
enum MachineUse {
  /** None: float64, or memory that has to be copied. */
  NONE,
  /** Machine code. */
  USUAL,
  /** Machine code whose output goes past the caches, since it is too long to stay in one. */
  STREAMING;

  /** Bytes of an output from which on it goes past the caches. */
  private static final long STREAMED = 1 << 24;

  /** Bytes that such an output is aligned to: those of the longest vectors. */
  private static final long ALIGNMENT = 64;

  static MachineUse of(ForwardCall call, long rows) {
    boolean any =
        call.choices().machineBits().getAsInt() > 0
            && isRead(call.x())
            && isRead(call.y())
            && (call.residual() == null || isRead(call.residual()));
    return any ? streams(call, rows) ? STREAMING : USUAL : NONE;
  }

  /** Whether machine code reads and writes rows where they are: also in arrays of other types. */
  static boolean isRead(RowMemory rows) {
    boolean reached = rows.addressable() || !rows.segment().isNative();
    return rows.type() != ElementType.FLOAT64 && reached;
  }

  /** An output over its own input is in a cache when it is written. */
  private static boolean streams(ForwardCall call, long rows) {
    RowMemory y = call.y();
    if (!y.segment().isNative()) {
      return false;
    }
    boolean aligned = (y.segment().address() | y.stride()) % ALIGNMENT == 0;
    boolean inPlace = y.segment().address() == call.x().segment().address();
    long bytes = rows * call.choices().width() * y.type().bytes();
    return aligned && !inPlace && bytes >= STREAMED;
  }
}
