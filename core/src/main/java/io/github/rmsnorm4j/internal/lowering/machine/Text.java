package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Value;

/** The text of a value or of a part, for comments: made when it is asked for. */
record Text(Object formula) {
  @Override
  public String toString() {
    return formula instanceof Value value ? value.text() : ((Part) formula).text().strip();
  }
}
