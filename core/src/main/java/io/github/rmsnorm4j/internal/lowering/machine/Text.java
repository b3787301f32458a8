package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Value;

/** The text of a value or of a stage, for comments: made when it is asked for. */
record Text(Object formula) {
  @Override
  public String toString() {
    return formula instanceof Value value ? value.text() : ((Stage) formula).text().strip();
  }
}
