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
  private final boolean sums;
  private final Piece expected;

  /**
   * Normalises the first rows.
   *
   * @param piece the rows, before they are normalised
   * @param sums whether the sums with a residual are compared, too
   */
  FirstRows(Norm norm, Piece piece, boolean sums) {
    this.sums = sums;
    long count = Math.min(piece.count(), MOST);
    PieceShape shape = piece.shape();
    CpuNormalizer.OfCpu first = new CpuNormalizer.OfCpu(Arena::ofAuto);
    first.prepare(norm, shape, count);
    first.x().copyFrom(piece.x().asSlice(0, count * shape.xRow()));
    first.beside().copyFrom(piece.beside().asSlice(0, count * shape.besideRow()));
    first.normalize(count);
    expected = first;
  }

  /** Whether a piece has the bits of these rows; a NaN is any NaN in float32 and float64. */
  boolean isBeginOf(Piece piece) {
    PieceShape shape = piece.shape();
    if (sums && !same(shape.beside(), piece.beside(), expected.other().segment())) {
      return false;
    }
    if (shape.codes() == null) {
      return same(shape.y(), piece.result(), expected.y().segment());
    }
    QuantizedRows there = piece.quantized();
    QuantizedRows here = expected.quantized();
    return begins(there.codes(), here.codes())
        && (here.scales() == null || begins(there.scales(), here.scales()));
  }

  private static boolean same(ElementType type, MemorySegment there, MemorySegment here) {
    if (type == ElementType.FLOAT16 || type == ElementType.BFLOAT16) {
      return begins(there, here);
    }
    return LongStream.range(0, here.byteSize() / type.bytes())
        .allMatch(i -> Double.compare(type.get(there, i), type.get(here, i)) == 0);
  }

  private static boolean begins(MemorySegment there, MemorySegment here) {
    return there.asSlice(0, here.byteSize()).mismatch(here) < 0;
  }
}
