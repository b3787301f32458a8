package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.codec.NarrowCodec;
import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.codec.Stage;
import io.github.rmsnorm4j.internal.kernel.Workspace;
import java.util.Arrays;

/** A gain or bias of a norm: a copy of its own, in the type that the arithmetic wants. */
final class Parameter {
  private final double[] doubles;
  private final float[] floats;

  /** Widening is exact, and every value ends up rounded to the arithmetic's type once. */
  private Parameter(double[] doubles) {
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
    return new Parameter(doubles);
  }

  static Parameter of(double[] values) {
    return new Parameter(values.clone());
  }

  static Parameter of(Rows values) {
    Workspace work = Workspace.take();
    try {
      double[] doubles = (double[]) values(values, true, work);
      return new Parameter(Arrays.copyOf(doubles, values.width()));
    } finally {
      work.giveBack();
    }
  }

  int length() {
    return floats.length;
  }

  Object values(boolean float64) {
    return float64 ? doubles : floats;
  }

  /**
   * One row of any memory as an array of the arithmetic's type: its own array if it is one,
   * otherwise in the workspace.
   */
  static Object values(Rows values, boolean float64, Workspace work) {
    int n = values.width();
    Object array = values.segment().heapBase().orElse(null);
    boolean fits = float64 ? array instanceof double[] : array instanceof float[];
    if (fits && values.segment().address() == 0 && values.type().bytes() == (float64 ? 8 : 4)) {
      return array;
    }
    long stride = (long) n * values.type().bytes();
    RowMemory memory = new RowMemory(values.segment(), values.type(), stride, false);
    Stage.load(memory, 0, 1, n, NarrowCodec.of(values.type(), 0), work);
    if (float64 == (values.type() == ElementType.FLOAT64)) {
      return float64 ? work.doubles(n) : work.floats(n);
    }
    return float64 ? widened(work, n) : rounded(work, n);
  }

  private static double[] widened(Workspace work, int n) {
    float[] floats = work.floats(n);
    double[] doubles = work.doubles(n);
    for (int i = 0; i < n; i++) {
      doubles[i] = floats[i];
    }
    return doubles;
  }

  private static float[] rounded(Workspace work, int n) {
    double[] doubles = work.doubles(n);
    float[] floats = work.floats(n);
    for (int i = 0; i < n; i++) {
      floats[i] = (float) doubles[i];
    }
    return floats;
  }
}
