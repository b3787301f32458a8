package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.formula.Tensor;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** How the output of a call is stored. */
public enum OutputStores {
  /** As usual. */
  CACHED,
  /** With non-temporal stores: it is too long to stay in a cache. */
  STREAMED,
  /** With non-temporal stores, if a back end has them for rows aligned as their elements are. */
  STREAMED_UNALIGNED;

  /** Bytes of an output from which on its stores are non-temporal. */
  private static final long STREAMED_BYTES = 1 << 24;

  /** Bytes of a row from which on that pays where two groups of a row have to be written twice. */
  private static final long UNALIGNED_ROW = 1 << 13;

  /** Bytes that such an output is aligned to: those of the longest vectors. */
  private static final long ALIGNMENT = 64;

  /**
   * The stores of a call. An output that replaces its own input is in a cache when it is written,
   * and so is memory for a few rows.
   */
  public static OutputStores of(Call call, long rows) {
    RowMemory output = call.rows(call.formula().output());
    if (output == null) {
      return CACHED;
    }
    long row = (long) call.choices().width() * output.type().bytes();
    if (rows * row < STREAMED_BYTES || output.window() != null || isInPlace(call, output)) {
      return CACHED;
    }
    long places = output.segment().address() | output.stride() | output.outerStride();
    if (output.segment().isNative() && places % ALIGNMENT == 0) {
      return STREAMED;
    }
    boolean pays = row >= UNALIGNED_ROW && places % output.type().bytes() == 0 && isAligned(output);
    return pays ? STREAMED_UNALIGNED : CACHED;
  }

  /**
   * Whether rows in an array are aligned as their elements are, if the place in the array is.
   * Arrays begin at a multiple of 4 bytes, arrays of 8-byte elements at a multiple of 8.
   */
  private static boolean isAligned(RowMemory rows) {
    int bytes = rows.type().bytes();
    return bytes <= Integer.BYTES
        || rows.segment().isNative()
        || isOfLongs(rows.segment().heapBase().orElse(null));
  }

  private static boolean isOfLongs(@Nullable Object array) {
    return array instanceof double[] || array instanceof long[];
  }

  private static boolean isInPlace(Call call, RowMemory output) {
    for (Tensor tensor : call.formula().rows()) {
      RowMemory rows = call.rows(tensor);
      if (rows != null
          && !tensor.equals(call.formula().output())
          && isSame(rows.segment(), output.segment())) {
        return true;
      }
    }
    return false;
  }

  private static boolean isSame(MemorySegment x, MemorySegment y) {
    return x.address() == y.address() && (y.isNative() || x.asOverlappingSlice(y).isPresent());
  }
}
