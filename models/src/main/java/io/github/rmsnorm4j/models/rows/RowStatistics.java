package io.github.rmsnorm4j.models.rows;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongConsumer;

/** What a tensor's rows are like, gathered in one pass over the file in pieces of a few MiB. */
public final class RowStatistics {
  private static final long PIECE_BYTES = 4 << 20;
  private static final long PIECE_ROWS = 1 << 16;

  /** The root mean square of the rows, all but zero rows and those that are not finite. */
  public final Quantiles rms = new Quantiles();

  /** The mean's absolute value as a part of the root mean square, of the same rows. */
  public final Quantiles meanRatio = new Quantiles();

  /** How many elements are NaN or infinite. */
  public long nonFiniteElements;

  /** How many rows hold such elements, or overflow. */
  public long nonFiniteRows;

  /** How many rows are zero throughout. */
  public long zeroRows;

  /**
   * Reads a tensor of a floating type whose rows are 1 to 2^31 - 1 wide.
   *
   * @param file where it is
   * @param tensor one of the file's
   * @param axis the first axis of a row
   * @param backend what computes, without an effect on any bit
   * @param progress gets the bytes of each piece that was read
   * @return the statistics
   * @throws IOException if the file cannot be read
   */
  public static RowStatistics of(
      TensorFile file, Tensor tensor, int axis, Backend backend, LongConsumer progress)
      throws IOException {
    RowStatistics statistics = new RowStatistics();
    ElementType type = tensor.dtype().elementType().orElseThrow();
    NonFinite counter = new NonFinite(type);
    int width = Math.toIntExact(tensor.width(axis));
    long rows = tensor.rows(axis);
    if (rows == 0) {
      return statistics; // No buffer for a width that only the header claims.
    }
    long rowBytes = (long) width * type.bytes();
    int pieceRows = (int) Math.clamp(PIECE_BYTES / rowBytes, 1, Math.min(rows, PIECE_ROWS));
    double[] mean = new double[pieceRows];
    double[] rstd = new double[pieceRows];
    LayerNorm norm = LayerNorm.builder(width).epsilon(0).backend(backend).build();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment piece = arena.allocate(pieceRows * rowBytes, 64);
      for (long row = 0; row < rows; row += pieceRows) {
        int count = (int) Math.min(pieceRows, rows - row);
        file.read(tensor, row * width, (long) count * width, piece);
        Rows x = Rows.of(piece, type, count, width);
        statistics.nonFiniteElements += counter.count(x.segment());
        // In place: only the statistics are wanted of the norm.
        norm.apply(x, x, mean, rstd);
        for (int i = 0; i < count; i++) {
          statistics.add(mean[i], 1 / rstd[i]);
        }
        progress.accept(count * rowBytes);
      }
    }
    return statistics;
  }

  private RowStatistics() {}

  /** A row of this mean and standard deviation. */
  private void add(double mean, double deviation) {
    double rootMeanSquare = Math.hypot(mean, deviation);
    if (!Double.isFinite(rootMeanSquare)) {
      nonFiniteRows++;
    } else if (rootMeanSquare == 0) {
      zeroRows++;
    } else {
      rms.add(rootMeanSquare);
      meanRatio.add(Math.abs(mean) / rootMeanSquare);
    }
  }

  /**
   * How far LayerNorm and RMSNorm of a row are apart, as a part of the size of their outputs:
   * {@code sqrt(2 - 2 sqrt(1 - rho))} for epsilon 0, rewritten so that a small rho does not cancel.
   *
   * @param rho the square of the mean over the mean square, 0 to 1
   * @return 0 to the root of 2
   */
  public static double gap(double rho) {
    return Math.sqrt(2 * rho / (1 + Math.sqrt(1 - rho)));
  }
}
