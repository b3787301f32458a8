package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.DequantizedFile;
import io.github.rmsnorm4j.formats.QuantizedTensor;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.check.QuantizedSample;
import io.github.rmsnorm4j.models.check.Sample;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows that {@code check} compares: those of X and Y, and of a residual.
 *
 * @param x what went in
 * @param y what came out
 * @param residual what was added to it, or null
 * @param gain the gain, or null
 * @param bias the bias, or null
 */
record CheckRows(
    StoredRows x, StoredRows y, StoredRows residual, StoredParameter gain, StoredParameter bias)
    implements Closeable {
  /** So many elements are compared at most, unless one row has more. */
  private static final long ELEMENTS = 1 << 18;

  private static final long MOST_ROWS = 4096;

  /** Wider rows would not fit in a heap of 256 MiB with all that is tried. */
  private static final long GREATEST_WIDTH = 1 << 20;

  static CheckRows open(String x, String y, String gain, String bias, String residual)
      throws IOException {
    StoredParameter gains = gain == null ? null : StoredParameter.of("gain", gain);
    StoredParameter biases = bias == null ? null : StoredParameter.of("bias", bias);
    List<StoredRows> opened = new ArrayList<>();
    try {
      opened.add(StoredRows.open("X", x));
      opened.add(StoredRows.openDequantized("Y", y));
      opened.add(residual == null ? null : StoredRows.open("the residual", residual));
      CheckRows rows = new CheckRows(opened.get(0), opened.get(1), opened.get(2), gains, biases);
      rows.requireShapes();
      return rows;
    } catch (Throwable e) {
      for (StoredRows each : opened) {
        if (each != null) {
          each.close();
        }
      }
      throw e;
    }
  }

  private void requireShapes() {
    Tensor rows = x.tensor();
    if (!y.tensor().shape().equals(rows.shape())) {
      throw new IllegalArgumentException(
          "%s: Y is %s, its shape must be that of X, %s"
              .formatted(y.file().path(), y.tensor(), rows.shape()));
    }
    if (residual != null) {
      residual.requireLike(rows);
    }
    if (rows.elements() == 0) {
      throw new IllegalArgumentException(
          "%s: X is %s, it is empty".formatted(x.file().path(), rows));
    }
    long width = rows.width(-1);
    if (width > GREATEST_WIDTH) {
      throw new IllegalArgumentException(
          "%s: X is %s, its rows may have %s elements at most"
              .formatted(x.file().path(), rows, GREATEST_WIDTH));
    }
    require(gain, width);
    require(bias, width);
  }

  private static void require(StoredParameter parameter, long width) {
    if (parameter != null && parameter.length() != width) {
      throw new IllegalArgumentException(
          "%s: the %s has %s elements, a row of X has %s"
              .formatted(
                  parameter.reference().file(), parameter.kind(), parameter.length(), width));
    }
  }

  private int width() {
    return (int) x.tensor().width(-1);
  }

  /** How many rows are compared. */
  private int count() {
    long fitting = Math.clamp(ELEMENTS / width(), 1, MOST_ROWS);
    return (int) Math.min(x.tensor().rows(-1), fitting);
  }

  long sampledBytes() {
    return (long) count() * width() * (x.type().bytes() + y.type().bytes());
  }

  /** Whether Y is stored as codes and scales. */
  boolean quantized() {
    return y.quantized().isPresent();
  }

  /** Reads rows spread over the file, those of Y as codes and scales. */
  QuantizedSample quantizedSample() throws IOException {
    QuantizedTensor stored = y.quantized().orElseThrow();
    QuantizedType type = stored.type();
    TensorFile file = ((DequantizedFile) y.file()).stored();
    Arena arena = Arena.ofAuto();
    int count = count();
    Rows rowsX = buffer(x, count, arena);
    Rows residuals = buffer(residual, count, arena);
    long codeBytes = type.rowBytes(width());
    long scaleBytes = type.scales(width()) * (long) Float.BYTES;
    MemorySegment codes = arena.allocate(count * codeBytes);
    MemorySegment scales = arena.allocate(count * scaleBytes);
    for (int i = 0; i < count; i++) {
      long row = row(i);
      read(x, row, rowsX, i);
      read(residual, row, residuals, i);
      file.readBytes(stored.codes(), row * codeBytes, codes.asSlice(i * codeBytes, codeBytes));
      if (scaleBytes > 0) {
        MemorySegment of = scales.asSlice(i * scaleBytes, scaleBytes);
        file.readBytes(stored.scales().orElseThrow(), row * scaleBytes, of);
      }
    }
    return new QuantizedSample(
        rowsX,
        residuals,
        scaleBytes == 0
            ? QuantizedRows.of(codes, type, count, width())
            : QuantizedRows.of(codes, scales, type, count, width()),
        gain == null ? null : gain.read(arena),
        bias == null ? null : bias.read(arena));
  }

  /** Which row is compared next after some. */
  private long row(int i) {
    return (long) ((double) i * x.tensor().rows(-1) / count());
  }

  /** Reads rows spread over the file. */
  Sample sample() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      Rows gains = gain == null ? null : gain.read(arena);
      Rows biases = bias == null ? null : bias.read(arena);
      Sample sample =
          new Sample(
              width(),
              x.type(),
              y.type(),
              gains == null ? null : StoredParameter.values(gains),
              gains == null ? null : gains.type(),
              biases == null ? null : StoredParameter.values(biases),
              residual == null ? null : residual.type());
      Rows[] buffers = {buffer(x, 1, arena), buffer(y, 1, arena), buffer(residual, 1, arena)};
      int count = count();
      for (int i = 0; i < count; i++) {
        long row = row(i);
        sample.add(
            read(x, row, buffers[0]), read(y, row, buffers[1]), read(residual, row, buffers[2]));
      }
      return sample;
    }
  }

  private Rows buffer(StoredRows rows, int count, Arena arena) {
    return rows == null
        ? null
        : Rows.of(
            arena.allocate((long) count * width() * rows.type().bytes(), Double.BYTES),
            rows.type(),
            count,
            width());
  }

  private double[] read(StoredRows rows, long row, Rows buffer) throws IOException {
    if (rows == null) {
      return null;
    }
    read(rows, row, buffer, 0);
    return StoredParameter.values(buffer);
  }

  private void read(StoredRows rows, long row, Rows buffer, int i) throws IOException {
    if (rows != null) {
      long bytes = (long) width() * rows.type().bytes();
      rows.read(row * width(), width(), buffer.segment().asSlice(i * bytes, bytes));
    }
  }

  /** What is compared, in a line each. */
  String words() {
    long all = x.tensor().rows(-1);
    return "X is %s, Y is %s%s%s"
        .formatted(
            x.tensor(),
            y.tensor(),
            y.quantized().map(stored -> ", stored as " + stored.type()).orElse(""),
            count() < all ? ", %s of %s rows, spread over the file".formatted(count(), all) : "");
  }

  @Override
  public void close() throws IOException {
    try (x;
        y;
        residual) {
      // All are closed, whatever the others say.
    }
  }
}
