package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Elements of a tensor as doubles, whatever their type. */
final class Values {
  private Values() {}

  static double[] all(TensorFile file, Tensor tensor) throws IOException {
    return range(file, tensor, 0, tensor.elements());
  }

  static double[] range(TensorFile file, Tensor tensor, long first, long count) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = arena.allocate(count * tensor.dtype().bits() / 8 + 1);
      file.read(tensor, first, count, segment);
      double[] values = new double[(int) count];
      for (int i = 0; i < count; i++) {
        values[i] = tensor.dtype().elementType().orElseThrow().get(segment, i);
      }
      return values;
    }
  }

  /** What {@code make_golden.py} fills its tensors with: -2, -1.5, -1, ... */
  static double[] ramp(int count) {
    double[] values = new double[count];
    for (int i = 0; i < count; i++) {
      values[i] = i / 2.0 - 2;
    }
    return values;
  }
}
