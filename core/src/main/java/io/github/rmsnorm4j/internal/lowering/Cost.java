package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.HashSet;
import java.util.Set;

/** The approximate number of calls of the Vector API of a part for one vector of elements. */
final class Cost {
  private static final int READ_BFLOAT16 = 3;
  private static final int WRITE_BFLOAT16 = 9;
  private static final int ROUND_TO_BFLOAT16 = 12;
  private static final int ROUND_TO_FLOAT16 = 26;

  private final Set<Value> known = new HashSet<>();
  private int calls;

  private Cost() {}

  static int of(Part part) {
    Cost cost = new Cost();
    for (Part.Statement statement : part.statements()) {
      if (statement.isOfElements()) {
        cost.add(statement.value());
        boolean encodes =
            statement instanceof Part.Store store && store.type() == ElementType.BFLOAT16;
        cost.calls += encodes ? WRITE_BFLOAT16 : 1;
      }
    }
    return cost.calls;
  }

  private void add(Value value) {
    if (!value.perElement() || !known.add(value)) {
      return;
    }
    for (Value part : value.parts()) {
      add(part);
    }
    if (value instanceof Value.Element element) {
      calls += element.type() == ElementType.BFLOAT16 ? READ_BFLOAT16 : 1;
    } else if (value instanceof Value.Cast cast) {
      calls += cast.to() == ElementType.BFLOAT16 ? ROUND_TO_BFLOAT16 : ROUND_TO_FLOAT16;
    } else if (value instanceof Value.OneNan) {
      calls += 2;
    } else {
      calls++;
    }
  }
}
