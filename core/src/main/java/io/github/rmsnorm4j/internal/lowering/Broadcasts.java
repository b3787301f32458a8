package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.formula.Value;
import java.util.HashMap;
import java.util.Map;

/** Vectors of values that exist once for a row: made once, before the loop over its elements. */
final class Broadcasts {
  private final Code code;
  private final VectorCode vectors;

  /** Elements of a vector. */
  private final int elements;

  private final Map<Value, Integer> locals = new HashMap<>();

  Broadcasts(Code code, VectorCode vectors, int elements) {
    this.code = code;
    this.vectors = vectors;
    this.elements = elements;
  }

  /** Makes the vectors of a row. */
  void make(Place place, int row) {
    Scalars scalars = new Scalars(code, place.frame(), row, -1);
    for (Value value : place.stage().rowValues()) {
      add(value, () -> scalars.push(value));
    }
    literals(place);
  }

  /** Makes the vectors of the constants of a stage. */
  void literals(Place place) {
    for (Value value : place.stage().literals()) {
      add(value, () -> code.literal(value));
    }
  }

  /**
   * Makes the vector of a value.
   *
   * @param number code that leaves the value on the stack
   */
  void add(Value value, Runnable number) {
    code.line("broadcast %s", value.text());
    int bits = VectorCode.bits(elements, value.float64());
    locals.put(value, vectors.broadcast(VectorCode.of(value.float64()), bits, number));
  }

  Integer get(Value value) {
    return locals.get(value);
  }
}
