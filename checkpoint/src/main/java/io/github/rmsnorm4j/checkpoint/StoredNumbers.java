package io.github.rmsnorm4j.checkpoint;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Elements of a stored tensor as float64, which holds each of them exactly. */
final class StoredNumbers {
  private StoredNumbers() {}

  /** All elements of a small tensor, as a gain is. */
  static double[] all(TensorFile file, Tensor tensor) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment elements = arena.allocate(tensor.bytes(), Double.BYTES);
      file.read(tensor, 0, tensor.elements(), elements);
      ElementType type = tensor.dtype().elementType().orElseThrow();
      double[] values = new double[Math.toIntExact(tensor.elements())];
      for (int i = 0; i < values.length; i++) {
        values[i] = at(elements, type, i);
      }
      return values;
    }
  }

  private static double at(MemorySegment elements, ElementType type, long index) {
    return switch (type) {
      case FLOAT64 -> elements.getAtIndex(ValueLayout.JAVA_DOUBLE, index);
      case FLOAT32 -> elements.getAtIndex(ValueLayout.JAVA_FLOAT, index);
      case FLOAT16 -> Float.float16ToFloat(elements.getAtIndex(ValueLayout.JAVA_SHORT, index));
      case BFLOAT16 ->
          Float.intBitsToFloat(elements.getAtIndex(ValueLayout.JAVA_SHORT, index) << Short.SIZE);
    };
  }
}
