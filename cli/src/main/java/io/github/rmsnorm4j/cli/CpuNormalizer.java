package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Rows are normalised by this processor, one piece at a time. */
final class CpuNormalizer implements Normalizer {
  private static final long PIECE = 4 << 20;
  private static final int ALIGNMENT = 64;

  private final Buffer<MemorySegment> x = buffer();
  private final Buffer<MemorySegment> beside = buffer();
  private final Buffer<MemorySegment> result = buffer();

  /** Helpers of a norm use it, too. */
  private static Buffer<MemorySegment> buffer() {
    return new Buffer<>(Arena::ofShared, (bytes, arena) -> arena.allocate(bytes, ALIGNMENT));
  }

  @Override
  public Backend backend(List<Tensor> tensors) {
    return VectorApi.bestBackend(tensors);
  }

  @Override
  public void add(Norm norm) {
    // Every norm can be used here as it is.
  }

  @Override
  public Pieces pieces(Norm norm, PieceShape shape, long rows, boolean sums) {
    long count = shape.rowsIn(PIECE, rows);
    MemorySegment input = x.atLeast(count * shape.xRow());
    Piece piece =
        piece(
            norm,
            shape,
            input,
            beside.atLeast(count * shape.besideRow()),
            shape.isInPlace() ? input : result.atLeast(count * shape.resultRow()));
    return new Pieces(List.of(piece), count);
  }

  /** A piece in memory of the caller. */
  static Piece piece(
      Norm norm, PieceShape shape, MemorySegment x, MemorySegment beside, MemorySegment result) {
    return new OfCpu(norm, shape, x, beside, result);
  }

  @Override
  public String describe(Norm norm, List<Tensor> tensors) {
    return VectorApi.describe(norm.backend(), tensors);
  }

  @Override
  public void close() {
    x.close();
    beside.close();
    result.close();
  }

  private static final class OfCpu extends Piece {
    private final Norm norm;

    OfCpu(
        Norm norm, PieceShape shape, MemorySegment x, MemorySegment beside, MemorySegment result) {
      super(shape, x, beside, result);
      this.norm = norm;
    }

    @Override
    void start() {
      Rows in = shape().x(x(), count());
      Rows other = shape().beside(beside(), count());
      boolean isGated = norm.spec().gate() != Gate.NONE;
      if (shape().codes() == null) {
        Rows y = shape().y(result(), count());
        if (other == null) {
          norm.apply(in, y);
        } else if (isGated) {
          norm.applyGated(in, other, y);
        } else {
          norm.addAndApply(in, other, y);
        }
        return;
      }
      QuantizedRows q = shape().quantized(result(), count());
      if (other == null) {
        norm.apply(in, null, q);
      } else if (isGated) {
        norm.applyGated(in, other, null, q);
      } else {
        norm.addAndApply(in, other, null, q);
      }
    }

    @Override
    void finish() {
      // The call has returned when the rows are done.
    }
  }
}
