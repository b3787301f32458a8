package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.ElementType;
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
record TensorReader(TensorFile file, MatrixChange change) {
  private static final int PIECE = 1 << 16;

  /** Takes elements of a tensor. */
  interface Sink {
    /**
     * Takes a piece.
     *
     * @param index of its first element, counted from the first that is read
     */
    void take(long index, float[] values);
  }

  /** Copies the elements one after the other to memory. */
  static Sink copyTo(MemorySegment memory) {
    return (index, values) ->
        MemorySegment.copy(
            values, 0, memory, ValueLayout.JAVA_FLOAT, index * Float.BYTES, values.length);
  }

  /** Checks that a file has tensors, in their shapes, before any memory is taken. */
  static void check(TensorFile file, List<StoredTensor> tensors) throws FormatException {
    for (StoredTensor stored : tensors) {
      Tensor tensor = file.tensor(stored.name());
      if (!tensor.shape().equals(stored.shape())) {
        throw new FormatException(
            file.path(),
            tensor.name(),
            "has the shape " + tensor.shape() + ", it must be " + stored.shape());
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
  void read(List<StoredTensor> tensors, MemorySegment into) throws IOException {
    for (StoredTensor stored : tensors) {
      Tensor tensor = file.tensor(stored.name());
      read(tensor, 0, tensor.elements(), stored.into(into));
    }
  }

  /** Reads elements of a checked tensor, rounded to float32, in pieces. */
  void read(Tensor tensor, long first, long count, Sink sink) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      long most = Math.min(PIECE, count);
      MemorySegment piece = arena.allocate(most * Double.BYTES, Double.BYTES);
      float[] values = new float[(int) most];
      for (long index = 0; index < count; index += values.length) {
        if (values.length > count - index) {
          values = new float[(int) (count - index)];
        }
        file.read(tensor, first + index, values.length, piece);
        decode(tensor.dtype(), piece, values);
        change.change(tensor.name(), first + index, values);
        sink.take(index, values);
      }
    }
  }

  private static void decode(Dtype dtype, MemorySegment piece, float[] values) {
    if (dtype == Dtype.F32) {
      MemorySegment.copy(piece, ValueLayout.JAVA_FLOAT, 0, values, 0, values.length);
      return;
    }
    ElementType type = dtype.elementType().orElseThrow();
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) type.get(piece, i);
    }
  }
}
