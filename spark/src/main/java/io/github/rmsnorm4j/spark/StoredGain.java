package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;

/** A gain as a model stores it: numbers of a type, of which each is exact as a double. */
final class StoredGain {
  private StoredGain() {}

  /**
   * One row of a type.
   *
   * @throws IllegalArgumentException if the type lacks one of the numbers
   */
  static Rows of(double[] gain, ElementType type) {
    byte[] bytes = new byte[Math.multiplyExact(gain.length, type.bytes())];
    MemorySegment stored = MemorySegment.ofArray(bytes);
    for (int i = 0; i < gain.length; i++) {
      type.set(stored, i, gain[i]);
      if (Double.compare(type.get(stored, i), gain[i]) != 0) {
        throw new IllegalArgumentException(
            "gain[%s] is %s, no number of gainType %s".formatted(i, gain[i], type));
      }
    }
    return Rows.of(stored, type, 1, gain.length);
  }
}
