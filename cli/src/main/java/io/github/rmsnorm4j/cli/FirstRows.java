package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedRows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;

/**
 * The first rows of a piece, normalised by the processor, too. A device whose kernels do something
 * else is found before its rows are written.
 */
final class FirstRows {
  private static final long MOST = 4;
  private static final int ALIGNMENT = 64;

  private final PieceShape shape;
  private final long count;
  private final boolean sums;
  private final Piece expected;

  /**
   * Normalises the first rows.
   *
   * @param piece the rows, before they are normalised
   * @param sums whether the sums with a residual are compared, too
   */
  FirstRows(Norm norm, Piece piece, boolean sums) {
    this.shape = piece.shape();
    this.count = Math.min(piece.count(), MOST);
    this.sums = sums;
    MemorySegment x = copy(piece.x(), count * shape.xRow());
    MemorySegment result =
        shape.isInPlace() ? x : Arena.ofAuto().allocate(count * shape.resultRow(), ALIGNMENT);
    MemorySegment beside = copy(piece.beside(), count * shape.besideRow());
    expected = CpuNormalizer.piece(norm, shape, x, beside, result);
    expected.normalize(count);
    expected.finish();
  }

  private static MemorySegment copy(MemorySegment of, long bytes) {
    return Arena.ofAuto().allocate(bytes, ALIGNMENT).copyFrom(of.asSlice(0, bytes));
  }

  /** Whether a piece has the bits of these rows; a NaN is any NaN in float32 and float64. */
  boolean isBeginOf(Piece piece) {
    if (sums && !same(shape.beside(), piece.beside(), expected.beside())) {
      return false;
    }
    if (shape.codes() == null) {
      return same(shape.y(), piece.result(), expected.result());
    }
    QuantizedRows there = shape.quantized(piece.result(), piece.count());
    QuantizedRows here = shape.quantized(expected.result(), count);
    return begins(there.codes(), here.codes())
        && (here.scales() == null || begins(there.scales(), here.scales()));
  }

  private boolean same(ElementType type, MemorySegment there, MemorySegment here) {
    if (type == ElementType.FLOAT16 || type == ElementType.BFLOAT16) {
      return begins(there, here);
    }
    return LongStream.range(0, count * shape.width())
        .allMatch(i -> Double.compare(type.get(there, i), type.get(here, i)) == 0);
  }

  private static boolean begins(MemorySegment there, MemorySegment here) {
    return there.asSlice(0, here.byteSize()).mismatch(here) < 0;
  }
}
