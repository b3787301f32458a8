package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Strips;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.NullUnmarked;

/**
 * Points a frame at the rows of an operand: in place, or in arrays to which they are copied.
 *
 * <p>If the memory could be closed meanwhile, {@link MemorySegment#copy} checks every access of a
 * copy. So a closed segment or a truncated mapping gives an exception and does not end the JVM.
 */
@NullUnmarked // An object of a pool: between calls it refers to none.
final class RowAccess {
  private Tensor operand;
  private RowMemory rows;
  private Object base;
  private long offset;
  private ElementType stored;
  private Frame frame;

  /** Null if kernels access the rows in place. */
  private Staging staging;

  /** The rectangle that was copied last. */
  private long row;

  private long column;
  private int count;
  private int columns;

  /**
   * Begins with the rows of a call.
   *
   * @param staging null if kernels access them in place
   */
  void open(StagedProgram.Operand operand, RowMemory rows, Frame frame, Staging staging) {
    this.operand = operand.tensor();
    this.rows = rows;
    this.frame = frame;
    this.staging = staging;
    stored = operand.stored();
    base = staging == null ? rows.base() : null;
    offset = rows.segment().address();
  }

  /** Drops references to the rows. */
  void close() {
    rows = null;
    base = null;
    frame = null;
    staging = null;
  }

  /** Points the frame at a rectangle of rows that will be read. */
  void read(long row, long column, int rows, int columns) {
    if (staging != null && !has(row, column, rows, columns)) {
      this.rows.load(row, column, rows, columns, stored, staging);
      staging.holder = this;
      this.row = row;
      this.column = column;
      count = rows;
      this.columns = columns;
    }
    place(frame, row, column, rows, columns);
  }

  /** Whether the arrays still have a copy of a rectangle. */
  private boolean has(long row, long column, int rows, int columns) {
    return staging.holder == this
        && this.row == row
        && this.column == column
        && count == rows
        && this.columns == columns;
  }

  /** Points the frame at a rectangle of rows that will be written. */
  void place(long row, long column, int rows, int columns) {
    if (staging != null) {
      staging.holder = null;
    }
    place(frame, row, column, rows, columns);
  }

  /** Points a given frame at a rectangle of rows. */
  void place(Frame frame, long row, long column, int rows, int columns) {
    if (staging == null) {
      long at = this.rows.offset(row) + column * this.rows.type().bytes();
      frame.place(operand, base, offset + at, this.rows.stride());
    } else {
      frame.place(operand, array(rows * columns), 0, (long) columns * stored.bytes());
    }
  }

  private Object array(int length) {
    return switch (stored) {
      case FLOAT64 -> staging.doubles(length);
      case FLOAT32 -> staging.floats(length);
      case FLOAT16, BFLOAT16 -> staging.shorts(length);
    };
  }

  /** Copies a rectangle that was written back to the rows, if they are not accessed in place. */
  void write(long row, long column, int rows, int columns) {
    if (staging == null) {
      return;
    }
    int n = rows * columns;
    boolean fromDoubles = stored == ElementType.FLOAT64;
    switch (this.rows.type()) {
      case FLOAT64 -> {
        double[] wide = staging.doubles(n);
        double[] values = fromDoubles ? wide : Strips.widen(staging.floats(n), wide, n);
        copyOut(ValueLayout.JAVA_DOUBLE_UNALIGNED, row, column, rows, columns, values);
      }
      case FLOAT32 -> {
        float[] narrow = staging.floats(n);
        float[] values = fromDoubles ? Strips.round(staging.doubles(n), narrow, n) : narrow;
        copyOut(ValueLayout.JAVA_FLOAT_UNALIGNED, row, column, rows, columns, values);
      }
      case FLOAT16, BFLOAT16 -> {
        if (stored.bytes() > Short.BYTES) {
          float[] values = fromDoubles ? roundedToOdd(n) : staging.floats(n);
          staging.narrow().encode(this.rows.type(), values, staging.shorts(n), n);
        }
        short[] patterns = staging.shorts(n);
        copyOut(ValueLayout.JAVA_SHORT_UNALIGNED, row, column, rows, columns, patterns);
      }
    }
  }

  private float[] roundedToOdd(int n) {
    double[] values = staging.doubles(n);
    float[] into = staging.floats(n);
    for (int i = 0; i < n; i++) {
      into[i] = Narrow.roundToOdd(values[i]);
    }
    return into;
  }

  private void copyOut(
      ValueLayout layout, long row, long column, int rows, int columns, Object array) {
    if (this.rows.stride() == columns * layout.byteSize()) {
      MemorySegment.copy(
          array, 0, this.rows.source(), layout, this.rows.at(row, column), rows * columns);
      return;
    }
    for (int r = 0; r < rows; r++) {
      long at = this.rows.at(row + r, column);
      MemorySegment.copy(array, r * columns, this.rows.source(), layout, at, columns);
    }
  }
}
