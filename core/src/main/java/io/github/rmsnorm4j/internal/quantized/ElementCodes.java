package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.PlainValues;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Codes of elements in plain Java: elements of several blocks are collected, then computed. */
final class ElementCodes {
  private static final int MOST = PlainValues.MOST;
  private static final byte[] NOTHING = {};

  /** The type of the codes; null for int8. */
  private final @Nullable Float8 float8;

  private final PlainValues values;
  private final float[] elements;
  private final float[] factors;

  /** What becomes codes: of float32, or of float64. */
  private final float[] floats;

  private final double[] doubles;

  /** Whether it is of float64; the other array is empty. */
  private final boolean float64;

  /** Null where no scale is given. */
  private final @Nullable Given given;

  /** How many elements are collected, and where their codes go. */
  private int count;

  /** By run of elements that are one after the other: its end, and where its codes begin. */
  private final int[] ends = new int[MOST];

  private final int[] places = new int[MOST];
  private int runs;
  private byte[] into = NOTHING;

  ElementCodes(CodeFormula formula) {
    float8 = formula.format().float8();
    Value result = float8 == null ? formula.integer() : formula.scaled();
    values = new PlainValues(List.of(result));
    elements = values.floats(CodeFormula.ELEMENT);
    factors = values.floats(CodeFormula.FACTOR);
    float64 = result.float64();
    floats = float64 ? new float[0] : values.floats(result);
    doubles = float64 ? values.doubles(result) : new double[0];
    given = formula.format().given() ? new Given(formula.factor()) : null;
  }

  /** The factor of a scale that is given. */
  float factor(float scale) {
    return Objects.requireNonNull(given, "no scale is given").factor(scale);
  }

  /** Computes the factor of a scale that is given. */
  private record Given(Value factor, PlainValues values) {
    private Given(Value factor) {
      this(factor, new PlainValues(List.of(factor)));
    }

    private float factor(float scale) {
      values.floats(CodeFormula.GIVEN)[0] = scale;
      values.compute(1);
      return values.floats(factor)[0];
    }
  }

  /** Adds elements with one factor, whose codes go to an array from a place on. */
  void add(float[] y, int from, int n, float factor, byte[] into, int at) {
    for (int i = 0; i < n; ) {
      this.into = into;
      int some = Math.min(MOST - count, n - i);
      System.arraycopy(y, from + i, elements, count, some);
      Arrays.fill(factors, count, count + some, factor);
      count += some;
      ends[runs] = count;
      places[runs++] = at + i;
      i += some;
      if (count == MOST) {
        finish();
      }
    }
  }

  /** Writes the codes of the elements that were added. */
  void finish() {
    values.compute(count);
    int i = 0;
    for (int r = 0; r < runs; r++) {
      int to = places[r] - i;
      if (float8 != null) {
        for (; i < ends[r]; i++) {
          into[to + i] = float8.encode(floats[i]);
        }
      } else if (!float64) {
        for (; i < ends[r]; i++) {
          into[to + i] = (byte) (int) floats[i];
        }
      } else {
        for (; i < ends[r]; i++) {
          into[to + i] = (byte) (int) doubles[i];
        }
      }
    }
    count = 0;
    runs = 0;
    into = NOTHING;
  }
}
