package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.DequantizedFile;
import io.github.rmsnorm4j.formats.QuantizedTensor;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.check.Sample;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The rows that {@code check} compares: those of X and Y, and of a residual. A row is the last
 * axis, or the last axes that a gain or a bias has an element for, such as those of all heads.
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
  /** So many elements are read at once, and compared at most, unless one row has more. */
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
    if (rows.shape().isEmpty()) {
      throw new IllegalArgumentException(
          "%s: X is %s, a scalar, it must have rows".formatted(x.file().path(), rows));
    }
    if (rows.elements() == 0) {
      throw new IllegalArgumentException(
          "%s: X is %s, it is empty".formatted(x.file().path(), rows));
    }
    if (rows.width(axis()) > GREATEST_WIDTH) {
      throw new IllegalArgumentException(
          "%s: X is %s, its rows may have %s elements at most"
              .formatted(x.file().path(), rows, GREATEST_WIDTH));
    }
    require(gain);
    require(bias);
  }

  private void require(StoredParameter parameter) {
    if (parameter != null && (parameter.length() < 2 || width() % parameter.length() != 0)) {
      throw new IllegalArgumentException(
          "%s: the %s has %s elements, it must have one for each of the %s of a row of X, or of a group"
              .formatted(
                  parameter.reference().file(), parameter.kind(), parameter.length(), width()));
    }
  }

  /** The first axis of a row, from the end. */
  private int axis() {
    Tensor rows = x.tensor();
    return Stream.of(gain, bias)
        .filter(Objects::nonNull)
        .mapToLong(StoredParameter::length)
        .mapToInt(
            length ->
                IntStream.range(1, quantized() ? 1 : rows.shape().size() + 1)
                    .map(axes -> -axes)
                    .filter(axis -> rows.width(axis) == length)
                    .findFirst()
                    .orElse(-1))
        .min()
        .orElse(-1);
  }

  private int width() {
    return (int) x.tensor().width(axis());
  }

  private long all() {
    return x.tensor().rows(axis());
  }

  /** How many rows are read at once. */
  private int count() {
    return (int) Math.min(all(), Math.clamp(ELEMENTS / width(), 1, MOST_ROWS));
  }

  /** Whether Y is stored as codes and scales. */
  boolean quantized() {
    return y.quantized().isPresent();
  }

  /** Reads rows spread over the file. */
  Sample sample() throws IOException {
    return read(Sample.spread(all(), count()));
  }

  /** The bytes of X and Y. */
  long bytes() {
    return all() * width() * (x.type().bytes() + y.type().bytes());
  }

  /** Reads every row of the file, part by part. */
  Iterable<Sample> parts(LongConsumer bytesRead) {
    return () ->
        LongStream.iterate(0, first -> first < all(), first -> first + count())
            .mapToObj(
                first -> {
                  bytesRead.accept(bytes() / all() * count());
                  return part(first, Math.min(all(), first + count()));
                })
            .iterator();
  }

  private Sample part(long first, long end) {
    try {
      return read(LongStream.range(first, end).toArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Sample read(long[] numbers) throws IOException {
    Rows rowsX = rows(x, numbers);
    Rows residuals = residual == null ? null : rows(residual, numbers);
    Rows gains = ofRow(gain);
    Rows biases = ofRow(bias);
    return quantized()
        ? Sample.of(rowsX, residuals, codes(numbers), gains, biases, numbers)
        : Sample.of(rowsX, residuals, rows(y, numbers), gains, biases, numbers);
  }

  /** A parameter of a whole row: that of one group is repeated. */
  private Rows ofRow(StoredParameter parameter) throws IOException {
    if (parameter == null) {
      return null;
    }
    Rows group = parameter.read(Arena.ofAuto());
    MemorySegment row = memory((long) width() * group.type().bytes());
    long bytes = group.segment().byteSize();
    for (long at = 0; at < row.byteSize(); at += bytes) {
      MemorySegment.copy(group.segment(), 0, row, at, bytes);
    }
    return Rows.of(row, group.type(), 1, width());
  }

  private Rows rows(StoredRows of, long[] numbers) throws IOException {
    long bytes = (long) width() * of.type().bytes();
    MemorySegment read = memory(numbers.length * bytes);
    for (int i = 0; i < numbers.length; i++) {
      of.read(numbers[i] * width(), width(), read.asSlice(i * bytes, bytes));
    }
    return Rows.of(read, of.type(), numbers.length, width());
  }

  private QuantizedRows codes(long[] numbers) throws IOException {
    QuantizedTensor stored = y.quantized().orElseThrow();
    QuantizedType type = stored.type();
    TensorFile file = ((DequantizedFile) y.file()).stored();
    MemorySegment codes = bytes(file, stored.codes(), numbers, type.rowBytes(width()));
    long scaleBytes = type.scales(width()) * (long) Float.BYTES;
    if (scaleBytes == 0) {
      return QuantizedRows.of(codes, type, numbers.length, width());
    }
    MemorySegment scales = bytes(file, stored.scales().orElseThrow(), numbers, scaleBytes);
    return QuantizedRows.of(codes, scales, type, numbers.length, width());
  }

  private static MemorySegment bytes(TensorFile file, Tensor of, long[] numbers, long ofRow)
      throws IOException {
    MemorySegment read = memory(numbers.length * ofRow);
    for (int i = 0; i < numbers.length; i++) {
      file.readBytes(of, numbers[i] * ofRow, read.asSlice(i * ofRow, ofRow));
    }
    return read;
  }

  private static MemorySegment memory(long bytes) {
    return Arena.ofAuto().allocate(bytes, Double.BYTES);
  }

  /** What is compared. */
  String words(boolean allRows) {
    long width = x.tensor().width(-1);
    return "X is %s, Y is %s%s%s%s"
        .formatted(
            x.tensor(),
            y.tensor(),
            y.quantized().map(stored -> ", stored as " + stored.type()).orElse(""),
            width() > width
                ? ", a row is %s of %s, as the gain is".formatted(width() / width, width)
                : "",
            count() < all() && !allRows
                ? ", %s of %s rows, spread over the file (--all-rows takes all)"
                    .formatted(count(), all())
                : "");
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
