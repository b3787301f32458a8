package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Dtype;
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

  /** Reads tensors to their places in a model's memory, rounded to float32. */
  void read(List<StoredTensor> tensors, MemorySegment into) throws IOException {
    for (StoredTensor stored : tensors) {
      Tensor tensor = stored.in(file);
      read(tensor, 0, tensor.elements(), stored, into);
    }
  }

  /** Reads elements of a tensor, in pieces, to the places that the first of {@code stored} have. */
  void read(Tensor tensor, long first, long count, StoredTensor stored, MemorySegment into)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      float[] values = new float[(int) Math.min(PIECE, count)];
      MemorySegment piece = arena.allocate((long) values.length * Double.BYTES, Double.BYTES);
      for (long index = 0; index < count; index += values.length) {
        if (values.length > count - index) {
          values = new float[(int) (count - index)];
        }
        file.read(tensor, first + index, values.length, piece);
        decode(tensor.dtype(), piece, values);
        change.change(tensor.name(), first + index, values);
        stored.put(index, values, into);
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
