package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.ElementType;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The types of the rows of a call, and the types in which a kernel finds them in memory.
 *
 * @param float64 whether the arithmetic is float64
 * @param narrow the 16-bit types that float32 kernels read and write themselves
 * @param types the types of the rows that the call has
 */
public record Storage(boolean float64, Set<ElementType> narrow, Map<Tensor, ElementType> types) {
  /** Whether the call has such rows. */
  public boolean has(Tensor rows) {
    return types.containsKey(rows);
  }

  /** The same with rows of the compute type that one stage stores and others read. */
  public Storage with(Tensor rows) {
    Map<Tensor, ElementType> all = new TreeMap<>(types);
    all.put(rows, float64 ? ElementType.FLOAT64 : ElementType.FLOAT32);
    return new Storage(float64, narrow, all);
  }

  /** The type of rows that the call has. */
  public ElementType type(Tensor rows) {
    ElementType type = types.get(rows);
    if (type == null) {
      throw new IllegalStateException("the call has no rows " + rows);
    }
    return type;
  }

  /** The type itself, or the compute type if the rows are copied first. */
  public ElementType of(ElementType type) {
    if (float64) {
      return ElementType.FLOAT64;
    }
    return narrow.contains(type) ? type : ElementType.FLOAT32;
  }

  /** The value of element i of rows. */
  Value element(Tensor rows) {
    return Value.element(rows, of(type(rows)));
  }

  /** Stores a value, rounded once to the type of the rows. */
  void store(Stage.Builder stage, Tensor rows, Value value) {
    ElementType type = type(rows);
    Value v = !float64 && value.float64() ? value.cast(type) : value;
    // An instruction that rounds to float16 keeps the payload of a NaN.
    boolean keepsNan = of(type) == ElementType.FLOAT16 && !v.float64();
    stage.store(rows, of(type), keepsNan ? v.oneNan() : v);
  }
}
