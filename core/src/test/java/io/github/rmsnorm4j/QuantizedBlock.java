package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/** Quantised rows somewhere in memory, with guard bytes around and between them. */
final class QuantizedBlock {
  private static final byte SENTINEL = 0x5a;
  private static final int GUARD = 3;

  /** A scale that is given for all. */
  static final float GIVEN = 0.013f;

  final QuantizedRows rows;
  private final MemorySegment codes;

  /** Null where the type has no such memory. */
  private final MemorySegment scales;

  /** Memory with strides that are drawn. */
  QuantizedBlock(
      Arena arena, boolean heap, QuantizedType type, int rows, int width, SplittableRandom random) {
    int ofRow = type.scales(width);
    long stride = type.rowBytes(width) + random.nextInt(3) * 7L;
    long scaleStride = ofRow + random.nextInt(3);
    codes = memory(arena, heap, Math.max(1, rows) * stride, random);
    scales = ofRow == 0 ? null : memory(arena, heap, Math.max(1, rows) * scaleStride * 4, random);
    MemorySegment ofCodes = codes.asSlice(GUARD);
    this.rows =
        type.toString().endsWith("given")
            ? QuantizedRows.of(ofCodes, stride, GIVEN, type, rows, width)
            : ofRow == 0
                ? QuantizedRows.of(ofCodes, stride, type, rows, width)
                : QuantizedRows.of(
                    ofCodes, stride, scales.asSlice(GUARD), scaleStride, type, rows, width);
  }

  /** Memory of so many bytes, not aligned. */
  private static MemorySegment memory(
      Arena arena, boolean heap, long bytes, SplittableRandom random) {
    long all = bytes + 2 * GUARD;
    int at = random.nextInt(2);
    MemorySegment memory =
        heap ? MemorySegment.ofArray(new byte[(int) all + at]) : arena.allocate(all + at, 8);
    return memory.asSlice(at).fill(SENTINEL);
  }

  /** What is not as wanted, or null. */
  String mismatch(QuantizedContract contract, float[][] y) {
    MemorySegment wanted = copyOfGuards(codes);
    MemorySegment wantedScales = scales == null ? null : copyOfGuards(scales);
    for (int r = 0; r < y.length; r++) {
      QuantizedContract.Row row = contract.row(y[r]);
      long at = GUARD + r * rows.codeStride();
      MemorySegment.copy(row.codes(), 0, wanted, ValueLayout.JAVA_BYTE, at, row.codes().length);
      for (int b = 0; b < row.scales().length; b++) {
        long place = GUARD + (r * rows.scaleStride() + b) * Float.BYTES;
        int bits = Float.floatToIntBits(row.scales()[b]);
        wantedScales.set(ValueLayout.JAVA_INT_UNALIGNED, place, bits);
      }
    }
    String codesDiffer = mismatch(wanted, codes, "codes");
    return codesDiffer != null || scales == null
        ? codesDiffer
        : mismatch(wantedScales, scales, "scales");
  }

  private static MemorySegment copyOfGuards(MemorySegment memory) {
    return MemorySegment.ofArray(new byte[(int) memory.byteSize()]).fill(SENTINEL);
  }

  private static String mismatch(MemorySegment wanted, MemorySegment found, String name) {
    long at = wanted.mismatch(found);
    return at < 0
        ? null
        : "byte %d of %s is %d, not %d"
            .formatted(
                at - GUARD,
                name,
                found.get(ValueLayout.JAVA_BYTE, at),
                wanted.get(ValueLayout.JAVA_BYTE, at));
  }
}
