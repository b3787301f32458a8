package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.formula.Value;

/** A value at element 0 of a row, in plain Java. */
public final class FirstElement {
  private FirstElement() {}

  /** A float32 is returned as the float64 of the same value. */
  public static double of(Value value, Frame frame, int row) {
    switch (value.kind()) {
      case ELEMENT -> {
        int slot = value.tensor().slot();
        Object base = frame.base[slot];
        long at = frame.offset[slot] + row * frame.stride[slot];
        return value.float64()
            ? Memory.getDouble(base, at)
            : Memory.getFloat(value.type(), base, at);
      }
      case CAST -> {
        return Narrow.round(of(value.a(), frame, row), value.type());
      }
      case PLUS -> {
        // Rounding the float64 sum of two float32 to float32 gives what one rounding would.
        double sum = of(value.a(), frame, row) + of(value.b(), frame, row);
        return value.float64() ? sum : (float) sum;
      }
      default -> throw new IllegalArgumentException("element 0 of " + value.text());
    }
  }
}
