package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.Tensor;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.Supplier;

/** Rows are normalised by this processor, one piece at a time. */
final class CpuNormalizer implements Normalizer {
  private static final long PIECE = 4 << 20;
  private static final int ALIGNMENT = 64;

  /** Shared, since helpers of a norm use it, too. */
  private final OfCpu piece = new OfCpu(Arena::ofShared);

  @Override
  public Backend backend(List<Tensor> tensors) {
    return VectorApi.bestBackend(tensors);
  }

  @Override
  public void add(Norm norm) {
    // Every norm can be used here as it is.
  }

  @Override
  public List<Piece> pieces(Norm norm, PieceShape shape, long rows, boolean sums) {
    piece.prepare(norm, shape, shape.rowsIn(PIECE, rows));
    return List.of(piece);
  }

  @Override
  public String describe(Norm norm, List<Tensor> tensors) {
    return VectorApi.describe(norm.backend(), tensors);
  }

  @Override
  public void close() {
    piece.close();
  }

  /** Rows are normalised when they are asked to. */
  static final class OfCpu extends Piece {
    private Norm norm;

    OfCpu(Supplier<Arena> arenas) {
      super(() -> new Buffer<>(arenas, (bytes, arena) -> arena.allocate(bytes, ALIGNMENT)));
    }

    void prepare(Norm norm, PieceShape shape, long rows) {
      this.norm = norm;
      prepare(shape, rows);
    }

    @Override
    void start() {
      Rows in = in();
      Rows other = other();
      boolean isGated = norm.spec().gate() != Gate.NONE;
      if (shape().codes() == null) {
        Rows y = y();
        if (other == null) {
          norm.apply(in, y);
        } else if (isGated) {
          norm.applyGated(in, other, y);
        } else {
          norm.addAndApply(in, other, y);
        }
        return;
      }
      QuantizedRows q = quantized();
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
