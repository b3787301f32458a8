package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.codec.NarrowArrays;
import io.github.rmsnorm4j.internal.codec.PowerArrays;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Arrays for the values of a stage, one strip of elements each, and the loops over them. */
public final class Strips {
  /** Elements of a strip: all values of a stage together stay in the first-level cache. */
  public static final int STRIP = NarrowArrays.MOST;

  private double[][] doubles = {};
  private float[][] floats = {};

  /** Null until 16-bit types are converted: the start of a process needs no class for that. */
  private @Nullable NarrowArrays narrow;

  /** Null until powers of two are computed. */
  private @Nullable PowerArrays powers;

  /** Float64 values that were rounded to float32. */
  final float[] rounded = new float[STRIP];

  /** Converts 16-bit types. */
  NarrowArrays narrow() {
    if (narrow == null) {
      narrow = new NarrowArrays();
    }
    return narrow;
  }

  /** Computes powers of two. */
  PowerArrays powers() {
    if (powers == null) {
      powers = new PowerArrays();
    }
    return powers;
  }

  double[] doubles(int value) {
    if (value >= doubles.length) {
      doubles = Arrays.copyOf(doubles, value + 8);
    }
    if (doubles[value] == null) {
      doubles[value] = new double[STRIP];
    }
    return doubles[value];
  }

  float[] floats(int value) {
    if (value >= floats.length) {
      floats = Arrays.copyOf(floats, value + 8);
    }
    if (floats[value] == null) {
      floats[value] = new float[STRIP];
    }
    return floats[value];
  }

  static void plus(float[] a, float[] b, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = a[i] + b[i];
    }
  }

  static void minus(float[] a, float[] b, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = a[i] - b[i];
    }
  }

  static void times(float[] a, float[] b, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = a[i] * b[i];
    }
  }

  static void over(float[] a, float[] b, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = a[i] / b[i];
    }
  }

  static void max(float[] a, float[] b, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Math.max(a[i], b[i]);
    }
  }

  static void min(float[] a, float[] b, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Math.min(a[i], b[i]);
    }
  }

  static void fma(float[] a, float[] b, float[] c, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Math.fma(a[i], b[i], c[i]);
    }
  }

  static void plus(double[] a, double[] b, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = a[i] + b[i];
    }
  }

  static void minus(double[] a, double[] b, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = a[i] - b[i];
    }
  }

  static void times(double[] a, double[] b, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = a[i] * b[i];
    }
  }

  static void over(double[] a, double[] b, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = a[i] / b[i];
    }
  }

  static void max(double[] a, double[] b, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Math.max(a[i], b[i]);
    }
  }

  static void min(double[] a, double[] b, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Math.min(a[i], b[i]);
    }
  }

  static void fma(double[] a, double[] b, double[] c, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Math.fma(a[i], b[i], c[i]);
    }
  }

  static void root(double[] a, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Math.sqrt(a[i]);
    }
  }

  /** Widens n values to float64; returns the array that they are in. */
  public static double[] widen(float[] a, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = a[i];
    }
    return into;
  }

  /** Rounds n values to float32; returns the array that they are in. */
  public static float[] round(double[] a, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = (float) a[i];
    }
    return into;
  }

  static void choose(
      double[] a,
      boolean orEqual,
      double[] b,
      double[] then,
      double[] otherwise,
      double[] into,
      int n) {
    for (int i = 0; i < n; i++) {
      boolean first = orEqual ? a[i] >= b[i] : a[i] > b[i];
      into[i] = first ? then[i] : otherwise[i];
    }
  }

  /** Computes an operation of values. */
  void operate(Value operation, int[] of, int v, int n) {
    switch (operation.kind()) {
      case WIDENED -> widen(floats(of[0]), doubles(v), n);
      case ROUNDED -> round(doubles(of[0]), floats(v), n);
      case ONE_NAN -> oneNan(floats(of[0]), floats(v), n);
      case ROOT -> root(doubles(of[0]), doubles(v), n);
      case CAST -> {
        if (operation.float64()) {
          cast(doubles(of[0]), operation.type(), doubles(v), n);
        } else {
          cast(floats(of[0]), operation.type(), floats(v), n);
        }
      }
      case POWER -> {
        if (operation.float64()) {
          power(doubles(of[0]), doubles(v), n);
        } else {
          power(floats(of[0]), floats(v), n);
        }
      }
      case FMA -> {
        if (operation.float64()) {
          fma(doubles(of[0]), doubles(of[1]), doubles(of[2]), doubles(v), n);
        } else {
          fma(floats(of[0]), floats(of[1]), floats(of[2]), floats(v), n);
        }
      }
      case ABOVE, AT_LEAST -> {
        boolean orEqual = operation.kind() == Value.Kind.AT_LEAST;
        double[] then = doubles(of[2]);
        choose(doubles(of[0]), orEqual, doubles(of[1]), then, doubles(of[3]), doubles(v), n);
      }
      default -> {
        if (operation.float64()) {
          operate(operation.kind(), doubles(of[0]), doubles(of[1]), doubles(v), n);
        } else {
          operate(operation.kind(), floats(of[0]), floats(of[1]), floats(v), n);
        }
      }
    }
  }

  private static void operate(Value.Kind operation, float[] a, float[] b, float[] into, int n) {
    switch (operation) {
      case PLUS -> plus(a, b, into, n);
      case MINUS -> minus(a, b, into, n);
      case TIMES -> times(a, b, into, n);
      case OVER -> over(a, b, into, n);
      case MAX -> max(a, b, into, n);
      case MIN -> min(a, b, into, n);
      default -> throw new IllegalArgumentException("no operation of two numbers: " + operation);
    }
  }

  private static void operate(Value.Kind operation, double[] a, double[] b, double[] into, int n) {
    switch (operation) {
      case PLUS -> plus(a, b, into, n);
      case MINUS -> minus(a, b, into, n);
      case TIMES -> times(a, b, into, n);
      case OVER -> over(a, b, into, n);
      case MAX -> max(a, b, into, n);
      case MIN -> min(a, b, into, n);
      default -> throw new IllegalArgumentException("no operation of two numbers: " + operation);
    }
  }

  /** Rounds n values to a type of 16 bits. */
  public void cast(float[] a, ElementType to, float[] into, int n) {
    NarrowArrays narrow = narrow();
    narrow.encode(to, a, narrow.patterns, n);
    narrow.decode(to, narrow.patterns, into, n);
  }

  /** Two to the power of n values, as {@link Value.Kind#POWER} says. */
  public void power(float[] a, float[] into, int n) {
    powers().of(a, into, n);
  }

  /** Two to the power of n values, as {@link Value.Kind#POWER} says. */
  public void power(double[] a, double[] into, int n) {
    powers().of(a, into, n);
  }

  /** Rounds n values to a type. */
  public static void cast(double[] a, ElementType to, double[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Narrow.round(a[i], to);
    }
  }

  static void oneNan(float[] a, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Narrow.oneNan(a[i]);
    }
  }

  static void addTo(float[] sums, int from, float[] terms, int n) {
    for (int i = 0; i < n; i++) {
      sums[from + i] += terms[i];
    }
  }

  static void addTo(double[] sums, int from, double[] terms, int n) {
    for (int i = 0; i < n; i++) {
      sums[from + i] += terms[i];
    }
  }

  /**
   * Adds n terms to the lanes of a row; the first term belongs to the first lane. Each lane gets
   * four terms at a time, so that it is read and written less often.
   */
  public static void addToLanes(double[] terms, int from, double[] lanes, int at, int n) {
    int i = from;
    int end = from + n;
    for (; i + 4 * SumOrder.LANES <= end; i += 4 * SumOrder.LANES) {
      for (int l = 0; l < SumOrder.LANES; l++) {
        double sum = lanes[at + l];
        sum += terms[i + l];
        sum += terms[i + l + SumOrder.LANES];
        sum += terms[i + l + 2 * SumOrder.LANES];
        sum += terms[i + l + 3 * SumOrder.LANES];
        lanes[at + l] = sum;
      }
    }
    for (; i + 2 * SumOrder.LANES <= end; i += 2 * SumOrder.LANES) {
      for (int l = 0; l < SumOrder.LANES; l++) {
        double sum = lanes[at + l];
        sum += terms[i + l];
        sum += terms[i + l + SumOrder.LANES];
        lanes[at + l] = sum;
      }
    }
    for (; i + SumOrder.LANES <= end; i += SumOrder.LANES) {
      for (int l = 0; l < SumOrder.LANES; l++) {
        lanes[at + l] += terms[i + l];
      }
    }
    for (int l = 0; i + l < end; l++) {
      lanes[at + l] += terms[i + l];
    }
  }

  /** Adds n products, exact in float64, to the lanes of a row. */
  static void addProductsToLanes(float[] a, float[] b, double[] lanes, int at, int n) {
    int i = 0;
    for (; i + 2 * SumOrder.LANES <= n; i += 2 * SumOrder.LANES) {
      for (int l = 0; l < SumOrder.LANES; l++) {
        double sum = lanes[at + l];
        sum += (double) a[i + l] * b[i + l];
        sum += (double) a[i + l + SumOrder.LANES] * b[i + l + SumOrder.LANES];
        lanes[at + l] = sum;
      }
    }
    for (; i + SumOrder.LANES <= n; i += SumOrder.LANES) {
      for (int l = 0; l < SumOrder.LANES; l++) {
        lanes[at + l] += (double) a[i + l] * b[i + l];
      }
    }
    for (int l = 0; i + l < n; l++) {
      lanes[at + l] += (double) a[i + l] * b[i + l];
    }
  }
}
