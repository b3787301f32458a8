package io.github.rmsnorm4j.transformer;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Reads a model's tensors from a file, whatever floating type they are stored in. */
final class TensorReader {
  private static final int PIECE = 1 << 16;

  private TensorReader() {}

  /**
   * Checks that a file has the tensors of a model, in their shapes, before any memory is taken.
   *
   * @param prefix what stands before each name in the file
   */
  static void check(TensorFile file, List<Parameter> parameters, String prefix)
      throws FormatException {
    for (Parameter parameter : parameters) {
      Tensor tensor = file.tensor(prefix + parameter.name());
      List<Long> shape = parameter.shape().stream().map(Integer::longValue).toList();
      if (!tensor.shape().equals(shape)) {
        throw new FormatException(
            file.path(),
            tensor.name(),
            "has the shape " + tensor.shape() + ", it must be " + shape);
      }
      if (tensor.dtype().elementType().isEmpty()) {
        throw new FormatException(
            file.path(),
            tensor.name(),
            "is " + tensor.dtype() + ", it must be F64, F32, F16 or BF16");
      }
    }
  }

  /** Reads checked tensors to their places in a model's memory, rounded to float32. */
  static void read(TensorFile file, List<Parameter> parameters, String prefix, MemorySegment into)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment piece = arena.allocate(PIECE * (long) Double.BYTES, Double.BYTES);
      for (Parameter parameter : parameters) {
        Tensor tensor = file.tensor(prefix + parameter.name());
        MemorySegment values = Weights.part(into, parameter);
        for (long first = 0; first < parameter.elements(); first += PIECE) {
          int count = (int) Math.min(PIECE, parameter.elements() - first);
          file.read(tensor, first, count, piece);
          decode(tensor.dtype(), piece, values, first, count);
        }
      }
    }
  }

  private static void decode(
      Dtype dtype, MemorySegment piece, MemorySegment values, long first, int count) {
    if (dtype == Dtype.F32) {
      MemorySegment.copy(piece, 0, values, first * Float.BYTES, (long) count * Float.BYTES);
      return;
    }
    for (int i = 0; i < count; i++) {
      float value =
          switch (dtype) {
            case F64 -> (float) piece.getAtIndex(ValueLayout.JAVA_DOUBLE, i);
            case F16 -> Float.float16ToFloat(piece.getAtIndex(ValueLayout.JAVA_SHORT, i));
            case BF16 ->
                Float.intBitsToFloat(piece.getAtIndex(ValueLayout.JAVA_SHORT, i) << Short.SIZE);
            default -> throw new IllegalStateException(dtype + " has been let through");
          };
      values.setAtIndex(ValueLayout.JAVA_FLOAT, first + i, value);
    }
  }
}
