package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.PlainValues;
import java.util.Arrays;
import java.util.List;

/** Codes of elements in plain Java: elements of several blocks are collected, then computed. */
final class ElementCodes {
  private static final int MOST = PlainValues.MOST;

  /** The type of the codes; null for int8. */
  private final Float8 float8;

  private final PlainValues values;
  private final float[] elements;
  private final float[] factors;

  /** What becomes codes: of float32, or of float64. */
  private final float[] floats;

  private final double[] doubles;

  /** Of a scale that is given; null where none is. */
  private final PlainValues given;

  private final Value factor;

  /** How many elements are collected, and where their codes go. */
  private int count;

  /** By run of elements that are one after the other: its end, and where its codes begin. */
  private final int[] ends = new int[MOST];

  private final int[] places = new int[MOST];
  private int runs;
  private byte[] into;

  ElementCodes(CodeFormula formula) {
    float8 = formula.format().float8();
    Value result = float8 == null ? formula.integer() : formula.scaled();
    values = new PlainValues(List.of(result));
    elements = values.floats(CodeFormula.ELEMENT);
    factors = values.floats(CodeFormula.FACTOR);
    floats = result.float64() ? null : values.floats(result);
    doubles = result.float64() ? values.doubles(result) : null;
    factor = formula.format().given() ? formula.factor() : null;
    given = factor == null ? null : new PlainValues(List.of(factor));
  }

  /** The factor of a scale that is given. */
  float factor(float scale) {
    given.floats(CodeFormula.GIVEN)[0] = scale;
    given.compute(1);
    return given.floats(factor)[0];
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
      } else if (floats != null) {
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
    into = null;
  }
}
