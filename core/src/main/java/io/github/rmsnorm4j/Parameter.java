package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Staging;
import java.util.Arrays;

/** A gain or bias of a norm: a copy, in the types of both arithmetics. */
final class Parameter {
  private final ElementType type;
  private final double[] doubles;
  private final float[] floats;

  /** Widening is exact, and every value is rounded to the compute type once. */
  private Parameter(ElementType type, double[] doubles) {
    this.type = type;
    this.doubles = doubles;
    floats = new float[doubles.length];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = (float) doubles[i];
    }
  }

  static Parameter of(float[] values) {
    double[] doubles = new double[values.length];
    for (int i = 0; i < doubles.length; i++) {
      doubles[i] = values[i];
    }
    return new Parameter(ElementType.FLOAT32, doubles);
  }

  static Parameter of(double[] values) {
    return new Parameter(ElementType.FLOAT64, values.clone());
  }

  static Parameter of(Rows values) {
    Staging staging = Staging.take();
    try {
      double[] doubles = (double[]) values(values, true, staging);
      return new Parameter(values.type(), Arrays.copyOf(doubles, values.width()));
    } finally {
      staging.giveBack();
    }
  }

  private Parameter(ElementType type, double[] doubles, float[] floats) {
    this.type = type;
    this.doubles = doubles;
    this.floats = floats;
  }

  /** Every value and an offset, added in either compute type. */
  Parameter plus(double offset) {
    if (offset == 0) {
      return this;
    }
    double[] doubles = this.doubles.clone();
    float[] floats = this.floats.clone();
    add(doubles, offset, doubles, doubles.length);
    add(floats, offset, floats, floats.length);
    return new Parameter(type, doubles, floats);
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

  /** Some of the values. */
  Parameter range(int from, int to) {
    double[] ofRange = Arrays.copyOfRange(doubles, from, to);
    return new Parameter(type, ofRange, Arrays.copyOfRange(floats, from, to));
  }

  int length() {
    return doubles.length;
  }

  Object values(boolean float64) {
    return float64 ? doubles : floats;
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
    return float64 ? widened(staging, n) : rounded(staging, n);
  }

  private static double[] widened(Staging staging, int n) {
    float[] floats = staging.floats(n);
    double[] doubles = staging.doubles(n);
    for (int i = 0; i < n; i++) {
      doubles[i] = floats[i];
    }
    return doubles;
  }

  private static float[] rounded(Staging staging, int n) {
    double[] doubles = staging.doubles(n);
    float[] floats = staging.floats(n);
    for (int i = 0; i < n; i++) {
      floats[i] = (float) doubles[i];
    }
    return floats;
  }
}
