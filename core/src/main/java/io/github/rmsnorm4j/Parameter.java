package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.kernel.Strips;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A gain or bias of a norm: a copy, in the types of both arithmetics. */
final class Parameter {
  private final ElementType type;

  /** float[] or double[], without the offset. */
  private final Object given;

  private final double offset;
  private final float[] floats;

  /** Made when they are first needed, since few rows are float64. */
  private volatile double @Nullable [] doubles;

  /** Widening is exact, and every value is rounded to the compute type once. */
  private Parameter(ElementType type, Object given, double offset) {
    this.type = type;
    this.given = given;
    this.offset = offset;
    floats =
        FirstTier.isInJavasState()
            ? floats(given, offset)
            : FloatingPointGuard.of(() -> floats(given, offset));
  }

  private static float[] floats(Object given, double offset) {
    float[] floats =
        given instanceof double[] wide
            ? Strips.round(wide, new float[wide.length], wide.length)
            : (float[]) given;
    return offset == 0 ? floats : add(floats, offset, new float[floats.length], floats.length);
  }

  static Parameter of(float[] values) {
    return new Parameter(ElementType.FLOAT32, values.clone(), 0);
  }

  static Parameter of(double[] values) {
    return new Parameter(ElementType.FLOAT64, values.clone(), 0);
  }

  static Parameter of(Rows values) {
    boolean float64 = values.type() == ElementType.FLOAT64;
    Staging staging = Staging.take();
    try {
      Object numbers = values(values, float64, staging);
      return new Parameter(values.type(), copyOf(numbers, values.width()), 0);
    } finally {
      staging.giveBack();
    }
  }

  private static Object copyOf(Object numbers, int n) {
    return numbers instanceof float[] floats
        ? Arrays.copyOf(floats, n)
        : Arrays.copyOf((double[]) numbers, n);
  }

  /** Every value and an offset, added in either compute type. */
  Parameter plus(double offset) {
    return offset == 0 ? this : new Parameter(type, given, offset);
  }

  /** The values of a call plus an offset, in a staging array; the values stay as they are. */
  static Object plus(Object values, double offset, int n, Staging staging) {
    if (values instanceof float[] floats) {
      return add(floats, offset, staging.floats(n), n);
    }
    return add((double[]) values, offset, staging.doubles(n), n);
  }

  private static float[] add(float[] values, double offset, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = (float) offset + values[i];
    }
    return into;
  }

  private static double[] add(double[] values, double offset, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = offset + values[i];
    }
    return into;
  }

  /** The type in which the caller gave it. */
  ElementType type() {
    return type;
  }

  int length() {
    return floats.length;
  }

  Object values(boolean float64) {
    return float64 ? doubles() : floats;
  }

  /** For float32 arithmetic. */
  float[] floats() {
    return floats;
  }

  private double[] doubles() {
    double[] values = doubles;
    if (values == null) {
      values =
          FirstTier.isInJavasState()
              ? doubles(given, offset)
              : FloatingPointGuard.of(() -> doubles(given, offset));
      doubles = values;
    }
    return values;
  }

  private static double[] doubles(Object given, double offset) {
    double[] doubles =
        given instanceof float[] narrow
            ? Strips.widen(narrow, new double[narrow.length], narrow.length)
            : (double[]) given;
    return offset == 0 ? doubles : add(doubles, offset, new double[doubles.length], doubles.length);
  }

  /**
   * Rows of any memory, one after the other, as an array of the compute type: their own array if it
   * is such an array, otherwise a staging array.
   */
  static Object values(Rows values, boolean float64, Staging staging) {
    int rows = (int) values.rows();
    int n = rows * values.width();
    Object array = values.segment().heapBase().orElse(null);
    boolean fits = float64 ? array instanceof double[] : array instanceof float[];
    boolean dense = rows == 1 || values.rowStride() == values.width();
    boolean whole = fits && dense && values.segment().address() == 0;
    if (array != null && whole && values.type().bytes() == (float64 ? 8 : 4)) {
      return array;
    }
    long stride = values.rowStride() * values.type().bytes();
    values.memory(rows == 1 ? 0 : stride, 0, 0, false).load(0, 0, rows, values.width(), staging);
    if (float64 == (values.type() == ElementType.FLOAT64)) {
      return float64 ? staging.doubles(n) : staging.floats(n);
    }
    return float64
        ? Strips.widen(staging.floats(n), staging.doubles(n), n)
        : Strips.round(staging.doubles(n), staging.floats(n), n);
  }
}
