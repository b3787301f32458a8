package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Writes an edited tensor: each number is rounded once to the stored type. */
final class RoundedTensor {
  private final Tensor tensor;
  private final ElementType type;
  private long computed;
  private long changed;
  private long small;
  private double largest;

  /** Takes the bytes of elements. */
  interface Bytes {
    void write(MemorySegment bytes) throws IOException;
  }

  /** The tensor of the result. */
  RoundedTensor(Tensor tensor) {
    this.tensor = tensor;
    this.type = tensor.dtype().elementType().orElseThrow();
  }

  /**
   * Writes all elements.
   *
   * @throws RefusedException if a number is too large for the type
   */
  RoundingCount write(EditedTensor edited, Bytes into) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment[] stored = {MemorySegment.NULL};
      long columns = tensor.shape().getLast();
      edited.forEach(
          (values, first, rows) -> {
            int count = (int) (rows * columns);
            long bytes = (long) count * type.bytes();
            if (stored[0].byteSize() < bytes) {
              stored[0] = arena.allocate(bytes, Double.BYTES);
            }
            round(values, count, first * columns);
            for (int i = 0; i < count; i++) {
              type.set(stored[0], i, values[i]);
            }
            into.write(stored[0].asSlice(0, bytes));
          });
    }
    return new RoundingCount(computed, changed, small, largest);
  }

  private void round(double[] values, int count, long first) throws RefusedException {
    computed += count;
    for (int i = 0; i < count; i++) {
      double exact = values[i];
      if (!Double.isFinite(exact)) {
        throw new RefusedException(
            "%s: element %s is %s, it must be finite to be computed with"
                .formatted(tensor.label(), first + i, exact));
      }
      double rounded = type.round(exact);
      if (rounded != exact) {
        values[i] = rounded;
        count(exact, rounded, first + i);
      }
    }
  }

  private void count(double exact, double rounded, long element) throws RefusedException {
    if (Double.isInfinite(rounded)) {
      throw new RefusedException(
          "%s: element %s becomes %s, which %s does not hold"
              .formatted(tensor.label(), element, exact, type));
    }
    changed++;
    if (Math.abs(rounded) < type.minNormal()) {
      small++;
    } else {
      largest = Math.max(largest, Math.abs((rounded - exact) / exact));
    }
  }
}
