package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.lang.foreign.MemorySegment;

/** What machine code a call is for. */
enum MachineUse {
  /** None: memory that has to be copied, or float64 and other types together. */
  NONE,
  /** Machine code. */
  USUAL,
  /** Machine code with non-temporal stores, for an output too long to stay in a cache. */
  STREAMING,
  /** STREAMING for an output aligned as its elements are, if there is a kernel for that. */
  STREAMING_UNALIGNED;

  /** Bytes of an output from which on its stores are non-temporal. */
  private static final long STREAMED = 1 << 24;

  /** Bytes of a row from which on that pays where two groups of a row have to be written twice. */
  private static final long UNALIGNED_ROW = 1 << 13;

  /** Bytes that such an output is aligned to: those of the longest vectors. */
  private static final long ALIGNMENT = 64;

  static MachineUse of(ForwardCall call, long rows) {
    boolean float64 = call.float64();
    boolean any =
        call.choices().machineBits().getAsInt() > 0
            && isRead(call.x(), float64)
            && isRead(call.y(), float64)
            && (call.residual() == null || isRead(call.residual(), float64));
    boolean isLong = call.choices().width() > RowSum.SUPER_BLOCK;
    boolean slower = float64 && isLong && any && call.choices().prefersVectors();
    return any && !slower ? ofOutput(call, rows) : NONE;
  }

  /**
   * Whether machine code reads and writes rows where they are: also in arrays of other types.
   *
   * @param float64 whether the arithmetic is float64
   */
  static boolean isRead(RowMemory rows, boolean float64) {
    boolean reached = rows.addressable() || !rows.segment().isNative();
    return float64 == (rows.type() == ElementType.FLOAT64) && reached;
  }

  /** An output over its own input is in a cache when it is written. */
  private static MachineUse ofOutput(ForwardCall call, long rows) {
    RowMemory y = call.y();
    long row = (long) call.choices().width() * y.type().bytes();
    if (rows * row < STREAMED || isInPlace(call)) {
      return USUAL;
    }
    long places = y.segment().address() | y.stride();
    if (y.segment().isNative() && places % ALIGNMENT == 0) {
      return STREAMING;
    }
    boolean pays = row >= UNALIGNED_ROW && places % y.type().bytes() == 0 && isAligned(y);
    return pays ? STREAMING_UNALIGNED : USUAL;
  }

  /**
   * Whether rows in an array are aligned as their elements are, if the place in the array is.
   * Arrays begin at a multiple of 4 bytes, arrays of 8-byte elements at a multiple of 8.
   */
  private static boolean isAligned(RowMemory rows) {
    int bytes = rows.type().bytes();
    return bytes <= Integer.BYTES
        || rows.segment().isNative()
        || rows.segment().maxByteAlignment() >= bytes;
  }

  private static boolean isInPlace(ForwardCall call) {
    MemorySegment x = call.x().segment();
    MemorySegment y = call.y().segment();
    return x.address() == y.address() && (y.isNative() || x.asOverlappingSlice(y).isPresent());
  }
}
