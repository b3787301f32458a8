package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.DOUBLES;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.FLOATS;

import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** Vectors of values that are one for a row: made once, before the loop over its elements. */
final class Broadcasts {
  private final Map<Value, Integer> locals = new HashMap<>();

  /** The values of a row that its elements need, the largest of them. */
  static Set<Value> of(Part part) {
    Set<Value> values = new LinkedHashSet<>();
    for (Part.Statement statement : part.statements()) {
      if (statement.isOfElements()) {
        collect(statement.value(), values);
      }
    }
    return values;
  }

  private static void collect(Value value, Set<Value> into) {
    if (!value.perElement()) {
      into.add(value);
      return;
    }
    for (Value part : value.parts()) {
      collect(part, into);
    }
  }

  /** Makes those of a row. */
  void make(Code code, VectorCode vectors, Place place, int row) {
    Scalars scalars = new Scalars(code, place.frame(), row, -1);
    for (Value value : of(place.part())) {
      code.line("broadcast %s", value.text());
      scalars.push(value);
      int number = code.store(Scalars.kind(value));
      put(
          value,
          vectors.broadcast(
              value.float64() ? DOUBLES : FLOATS,
              place.elements() * (value.float64() ? Double.SIZE : Float.SIZE),
              () -> code.c.loadLocal(Scalars.kind(value), number)));
    }
  }

  void put(Value value, int local) {
    locals.put(value, local);
  }

  Integer get(Value value) {
    return locals.get(value);
  }
}
