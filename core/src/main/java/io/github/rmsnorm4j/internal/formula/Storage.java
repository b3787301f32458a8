package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.ElementType;

/**
 * In which type the rows of a call lie where a kernel reads and writes them.
 *
 * @param float64 whether the arithmetic is float64
 * @param bfloat16 whether float32 kernels read and write bfloat16 themselves
 */
public record Storage(boolean float64, boolean bfloat16) {
  /** The type itself, or else that of the arithmetic: then the rows are copied on the way. */
  public ElementType of(ElementType type) {
    if (float64) {
      return ElementType.FLOAT64;
    }
    return bfloat16 && type == ElementType.BFLOAT16 ? type : ElementType.FLOAT32;
  }

  /** The value of element i of rows of a type. */
  Value element(Operand rows, ElementType type) {
    return new Value.Element(rows, of(type));
  }

  /** Stores a value, rounded once to the type of the rows. */
  void store(Part.Builder part, Operand rows, ElementType type, Value value) {
    Value v = !float64 && value.float64() ? value.cast(type) : value;
    // What is rounded to float16 behind the kernel keeps its NaN.
    boolean keepsNan = type == ElementType.FLOAT16 && !v.float64();
    part.store(rows, of(type), keepsNan ? new Value.OneNan(v) : v);
  }
}
