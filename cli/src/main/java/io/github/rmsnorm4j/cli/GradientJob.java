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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A backward pass from file to file, piece by piece, and a line about it. */
final class GradientJob {
  /**
   * Bytes of rows that are in memory of each file. The library's threads take whole blocks of 32
   * rows, so that a piece should have several blocks also where rows are long.
   */
  static final long PIECE = 16 << 20;

  /** The outputs, by the names of arguments. */
  static final String DX = "OUT";

  static final String DZ = "--dz";
  static final String DGAIN = "--dgain";
  static final String DBIAS = "--dbias";

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

  /**
   * What the file of an output will hold: the gradients of gain and bias the shape of one row.
   *
   * @param output one of the names above
   */
  Tensor content(String output) {
    List<Long> shape = in.x().tensor().shape();
    int first = axis < 0 ? axis + shape.size() : axis;
    return switch (output) {
      case DX -> new Tensor(in.x().name(), Dtype.of(type), shape);
      case DZ -> new Tensor(in.gate().name(), Dtype.of(type), shape);
      default ->
          new Tensor(
              output.replace("--", ""),
              isFloat64() ? Dtype.F64 : Dtype.F32,
              shape.subList(first, shape.size()));
    };
  }

  /** All bytes that are read. */
  long bytes() {
    return in.bytes();
  }

  /**
   * Writes everything.
   *
   * @param outputs the files that are wanted, by the names above
   */
  void run(Map<String, TensorWriter> outputs, Progress progress) throws IOException {
    long widest = Math.max(in.widest(), type.bytes());
    long pieceRows = GradientSum.pieceRows(pieceBytes / (widest * width));
    Map<String, GradientSum> sums = new LinkedHashMap<>();
    for (String parameter : List.of(DGAIN, DBIAS)) {
      if (outputs.containsKey(parameter)) {
        sums.put(parameter, new GradientSum(width, isFloat64(), pieceRows));
      }
    }
    if (rows > 0) { // Else no buffer for a width that only the header claims.
      pieces(outputs, sums, Math.toIntExact(Math.min(pieceRows, rows)), progress);
    }
    for (Map.Entry<String, GradientSum> sum : sums.entrySet()) {
      write(sum.getValue().total(), outputs.get(sum.getKey()));
    }
  }

  private void pieces(
      Map<String, TensorWriter> outputs, Map<String, GradientSum> sums, int most, Progress progress)
      throws IOException {
    Saved saved = new Saved(Keep.INPUT, most);
    try (Arena arena = Arena.ofShared()) {
      Map<StoredRows, MemorySegment> inputs = new HashMap<>();
      in.all().forEach(rows -> inputs.put(rows, buffer(arena, rows.type(), most)));
      MemorySegment dxs = buffer(arena, type, most);
      MemorySegment dzs = in.gate() == null ? null : buffer(arena, type, most);
      for (long row = 0; row < rows; row += most) {
        long count = Math.min(most, rows - row);
        Rows dx = Rows.of(dxs, type, count, width);
        Rows dz = dzs == null ? null : Rows.of(dzs, type, count, width);
        Rows z = read(in.gate(), row, count, inputs);
        Rows residual = read(in.residual(), row, count, inputs);
        forward(read(in.x(), row, count, inputs), residual, z, dx, saved);
        Rows dy = read(in.dy(), row, count, inputs);
        backward(dy, saved, read(in.dresidual(), row, count, inputs), dx, dz, sums);
        write(dx.segment(), type, outputs.get(DX));
        if (outputs.containsKey(DZ)) {
          write(dz.segment(), type, outputs.get(DZ));
        }
        progress.step(in.bytes() / rows * count);
      }
    }
  }

  private MemorySegment buffer(Arena arena, ElementType of, long count) {
    return arena.allocate(count * width * of.bytes(), ALIGNMENT);
  }

  private Rows read(StoredRows from, long row, long count, Map<StoredRows, MemorySegment> inputs)
      throws IOException {
    if (from == null) {
      return null;
    }
    MemorySegment into = inputs.get(from);
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
      Rows dy, Saved saved, Rows dresidual, Rows dx, Rows dz, Map<String, GradientSum> sums) {
    Map<String, double[]> ofPiece = new HashMap<>();
    sums.forEach((parameter, sum) -> ofPiece.put(parameter, sum.open()));
    ParameterGradients gradients =
        ParameterGradients.assigned(ofPiece.get(DGAIN), ofPiece.get(DBIAS));
    if (dz != null) {
      norm.backwardGated(dy, saved, dx, dz, gradients);
    } else if (dresidual == null) {
      norm.backward(dy, saved, dx, gradients);
    } else {
      norm.backward(dy, saved, dresidual, dx, gradients);
    }
    sums.forEach((parameter, sum) -> sum.add(ofPiece.get(parameter)));
  }

  private void write(double[] row, TensorWriter out) throws IOException {
    ElementType of = isFloat64() ? ElementType.FLOAT64 : ElementType.FLOAT32;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = buffer(arena, of, 1);
      for (int i = 0; i < width; i++) {
        of.set(segment, i, row[i]);
      }
      write(segment, of, out);
    }
  }

  private void write(MemorySegment piece, ElementType of, TensorWriter out) throws IOException {
    nonFinite += new NonFinite(of).count(piece);
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
