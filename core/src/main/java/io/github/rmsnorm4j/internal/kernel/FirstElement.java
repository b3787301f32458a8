package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.formula.Value;

/** A value at element 0 of a row, in plain Java. */
final class FirstElement {
  private FirstElement() {}

  /** A float32 is returned as the float64 of the same value. */
  static double of(Value value, Frame frame, int row) {
    if (value instanceof Value.Element e) {
      int slot = e.rows().ordinal();
      Object base = frame.base[slot];
      long at = frame.offset[slot] + row * frame.stride[slot];
      return e.float64() ? Memory.getDouble(base, at) : Memory.getFloat(e.type(), base, at);
    }
    if (value instanceof Value.Cast c) {
      return Narrow.round(of(c.of(), frame, row), c.to());
    }
    if (value instanceof Value.Binary b && b.operator() == Value.Operator.PLUS) {
      // Rounding the float64 sum of two float32 to float32 gives what one rounding would.
      double sum = of(b.a(), frame, row) + of(b.b(), frame, row);
      return value.float64() ? sum : (float) sum;
    }
    throw new IllegalArgumentException("element 0 of " + value.text());
  }
}
