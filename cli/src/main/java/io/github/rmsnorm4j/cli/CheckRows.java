package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.checkpoint.check.Sample;
import io.github.rmsnorm4j.formats.Tensor;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
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
      opened.add(StoredRows.open("Y", y));
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
      Rows[] buffers = {buffer(x, arena), buffer(y, arena), buffer(residual, arena)};
      long all = x.tensor().rows(-1);
      int count = count();
      for (int i = 0; i < count; i++) {
        long row = (long) ((double) i * all / count);
        sample.add(
            read(x, row, buffers[0]), read(y, row, buffers[1]), read(residual, row, buffers[2]));
      }
      return sample;
    }
  }

  private Rows buffer(StoredRows rows, Arena arena) {
    return rows == null
        ? null
        : Rows.of(
            arena.allocate((long) width() * rows.type().bytes(), Double.BYTES),
            rows.type(),
            1,
            width());
  }

  private double[] read(StoredRows rows, long row, Rows buffer) throws IOException {
    if (rows == null) {
      return null;
    }
    rows.read(row * width(), width(), buffer.segment());
    return StoredParameter.values(buffer);
  }

  /** What is compared, in a line each. */
  String words() {
    long all = x.tensor().rows(-1);
    return "X is %s, Y is %s%s"
        .formatted(
            x.tensor(),
            y.tensor(),
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
