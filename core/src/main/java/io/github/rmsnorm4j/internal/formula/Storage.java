package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.ElementType;
import java.util.Set;

/**
 * The type in which a kernel finds the rows of a call in memory.
 *
 * @param float64 whether the arithmetic is float64
 * @param narrow the 16-bit types that float32 kernels read and write themselves
 */
public record Storage(boolean float64, Set<ElementType> narrow) {
  /** The type itself, or the compute type if the rows are copied first. */
  public ElementType of(ElementType type) {
    if (float64) {
      return ElementType.FLOAT64;
    }
    return narrow.contains(type) ? type : ElementType.FLOAT32;
  }

  /** The value of element i of rows of a type. */
  Value element(Tensor rows, ElementType type) {
    return Value.element(rows, of(type));
  }

  /** Stores a value, rounded once to the type of the rows. */
  void store(Part.Builder part, Tensor rows, ElementType type, Value value) {
    Value v = !float64 && value.float64() ? value.cast(type) : value;
    // An instruction that rounds to float16 keeps the payload of a NaN.
    boolean keepsNan = type == ElementType.FLOAT16 && !v.float64();
    part.store(rows, of(type), keepsNan ? v.oneNan() : v);
  }
}
