package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.rows.GradientSum;
import io.github.rmsnorm4j.models.rows.NonFinite;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;

/** A backward pass from file to file, piece by piece, and a line about it. */
final class GradientJob {
  /**
   * Bytes of rows that are in memory of each file. The library's threads take whole blocks of 32
   * rows, so that a piece should have several blocks also where rows are long.
   */
  static final long PIECE = 16 << 20;

  private static final int ALIGNMENT = 64;

  private final GradientInputs in;
  private final int axis;
  private final ElementType type;
  private final Norm norm;
  private final long pieceBytes;
  private final int width;
  private final long rows;
  private long written;
  private long nonFinite;

  /**
   * Plans.
   *
   * @param in what is read, of rows as wide as they may be
   * @param axis the first axis of a row
   * @param type the type of DX, or null for that of DY
   * @throws IllegalArgumentException if shapes or types do not go together, or a setting cannot be
   */
  GradientJob(GradientInputs in, int axis, ElementType type, NormSettings settings, long pieceBytes)
      throws IOException {
    this.in = in;
    this.axis = axis;
    this.type = type == null ? in.dy().type() : type;
    this.pieceBytes = pieceBytes;
    if (isFloat64() != (this.type == ElementType.FLOAT64)) {
      throw new IllegalArgumentException(
          "--dtype is %s, the rows are %s: both must be f64, or neither"
              .formatted(this.type.shortName(), in.x().type().shortName()));
    }
    Tensor x = in.x().tensor();
    width = Math.toIntExact(x.width(axis));
    rows = x.rows(axis);
    norm = settings.norm(width, VectorApi.bestBackend(List.of(x)));
  }

  private boolean isFloat64() {
    return in.x().type() == ElementType.FLOAT64;
  }

  /** What OUT will hold. */
  Tensor result() {
    return new Tensor(in.x().name(), Dtype.of(type), in.x().tensor().shape());
  }

  /** What the file of the gate's gradient will hold. */
  Tensor gate() {
    return new Tensor(in.gate().name(), Dtype.of(type), in.gate().tensor().shape());
  }

  /** What the file of a gain's or bias's gradient will hold: of the shape of one row. */
  Tensor parameter(String name) {
    List<Long> shape = in.x().tensor().shape();
    int first = axis < 0 ? axis + shape.size() : axis;
    return new Tensor(
        name, isFloat64() ? Dtype.F64 : Dtype.F32, shape.subList(first, shape.size()));
  }

  /** All bytes that are read. */
  long bytes() {
    return in.bytes();
  }

  /**
   * Writes everything.
   *
   * @param dz takes the gradient of the gate, or null
   * @param dgain takes the gradient of the gain, or null
   * @param dbias likewise
   */
  void run(
      TensorWriter dx, TensorWriter dz, TensorWriter dgain, TensorWriter dbias, Progress progress)
      throws IOException {
    long widest = Math.max(in.widest(), type.bytes());
    long pieceRows = GradientSum.pieceRows(pieceBytes / (widest * width));
    GradientSum gain = dgain == null ? null : new GradientSum(width, isFloat64(), pieceRows);
    GradientSum bias = dbias == null ? null : new GradientSum(width, isFloat64(), pieceRows);
    if (rows > 0) { // Else no buffer for a width that only the header claims.
      pieces(dx, dz, gain, bias, pieceRows, progress);
    }
    if (gain != null) {
      write(gain.total(), dgain);
    }
    if (bias != null) {
      write(bias.total(), dbias);
    }
  }

  private void pieces(
      TensorWriter out,
      TensorWriter outOfGate,
      GradientSum gain,
      GradientSum bias,
      long pieceRows,
      Progress progress)
      throws IOException {
    int most = Math.toIntExact(Math.min(pieceRows, rows));
    Saved saved = new Saved(Keep.INPUT, most);
    NonFinite counter = new NonFinite(type);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment xs = buffer(arena, in.x(), most);
      MemorySegment residuals = buffer(arena, in.residual(), most);
      MemorySegment zs = buffer(arena, in.gate(), most);
      MemorySegment dzs = in.gate() == null ? null : buffer(arena, type, most);
      MemorySegment dys = buffer(arena, in.dy(), most);
      MemorySegment dresiduals = buffer(arena, in.dresidual(), most);
      MemorySegment dxs = buffer(arena, type, most);
      for (long row = 0; row < rows; row += most) {
        long count = Math.min(most, rows - row);
        Rows dx = Rows.of(dxs, type, count, width);
        Rows dz = dzs == null ? null : Rows.of(dzs, type, count, width);
        Rows z = read(in.gate(), row, count, zs);
        Rows residual = read(in.residual(), row, count, residuals);
        forward(read(in.x(), row, count, xs), residual, z, dx, saved);
        Rows dy = read(in.dy(), row, count, dys);
        backward(dy, saved, read(in.dresidual(), row, count, dresiduals), dx, dz, gain, bias);
        nonFinite += counter.count(dx.segment());
        write(dx.segment(), out);
        if (outOfGate != null) {
          nonFinite += counter.count(dz.segment());
          write(dz.segment(), outOfGate);
        }
        progress.step(in.bytes() / rows * count);
      }
    }
  }

  private MemorySegment buffer(Arena arena, ElementType of, long count) {
    return arena.allocate(count * width * of.bytes(), ALIGNMENT);
  }

  /** Room for rows of what is read; null for what is not. */
  private MemorySegment buffer(Arena arena, StoredRows input, long count) {
    return input == null ? null : buffer(arena, input.type(), count);
  }

  private Rows read(StoredRows from, long row, long count, MemorySegment into) throws IOException {
    if (from == null) {
      return null;
    }
    from.read(row * width, count * width, into);
    return Rows.of(into, from.type(), count, width);
  }

  /** The library goes back from a forward pass only; its result goes where there is room. */
  private void forward(Rows x, Rows residual, Rows z, Rows y, Saved saved) {
    if (z != null) {
      norm.applyGated(x, z, y, saved);
    } else if (residual == null) {
      norm.apply(x, y, saved);
    } else {
      norm.addAndApply(x, residual, y, saved);
    }
  }

  private void backward(
      Rows dy, Saved saved, Rows dresidual, Rows dx, Rows dz, GradientSum gain, GradientSum bias) {
    double[] ofGain = gain == null ? null : gain.open();
    double[] ofBias = bias == null ? null : bias.open();
    ParameterGradients gradients = ParameterGradients.assigned(ofGain, ofBias);
    if (dz != null) {
      norm.backwardGated(dy, saved, dx, dz, gradients);
    } else if (dresidual == null) {
      norm.backward(dy, saved, dx, gradients);
    } else {
      norm.backward(dy, saved, dresidual, dx, gradients);
    }
    if (gain != null) {
      gain.add(ofGain);
    }
    if (bias != null) {
      bias.add(ofBias);
    }
  }

  private void write(double[] row, TensorWriter out) throws IOException {
    ElementType of = isFloat64() ? ElementType.FLOAT64 : ElementType.FLOAT32;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = buffer(arena, of, 1);
      for (int i = 0; i < width; i++) {
        of.set(segment, i, row[i]);
      }
      nonFinite += new NonFinite(of).count(segment);
      write(segment, out);
    }
  }

  private void write(MemorySegment piece, TensorWriter out) throws IOException {
    out.write(piece);
    written += piece.byteSize();
  }

  /** What was done, in one line. */
  String summary(long nanos) {
    String line =
        String.format(
            Locale.ROOT,
            "%d %s of %d, %s, dx %s, %s, %s",
            rows,
            rows == 1 ? "row" : "rows",
            width,
            in.types(),
            type.shortName(),
            VectorApi.describe(norm.backend(), List.of(in.x().tensor())),
            Throughput.of(in.bytes() + written, nanos));
    return nonFinite == 0 ? line : line + "; " + nonFinite + " output elements are not finite";
  }
}
