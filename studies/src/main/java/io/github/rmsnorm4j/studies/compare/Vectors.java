package io.github.rmsnorm4j.studies.compare;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Float32 operations on runs of elements in native memory, one loop each, as the kernels of an
 * eager framework are. Places are in bytes; out may be the operand itself.
 */
final class Vectors {
  private static final VectorSpecies<Float> S = FloatVector.SPECIES_PREFERRED;
  private static final int LANES = S.length();
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private Vectors() {}

  private static FloatVector load(MemorySegment a, long at, int i) {
    return FloatVector.fromMemorySegment(S, a, at + 4L * i, ORDER);
  }

  private static void store(FloatVector v, MemorySegment out, long at, int i) {
    v.intoMemorySegment(out, at + 4L * i, ORDER);
  }

  private static float get(MemorySegment a, long at, int i) {
    return a.get(JAVA_FLOAT_UNALIGNED, at + 4L * i);
  }

  private static void set(MemorySegment out, long at, int i, float value) {
    out.set(JAVA_FLOAT_UNALIGNED, at + 4L * i, value);
  }

  static void multiply(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment out, long at, int n) {
    int i = 0;
    for (; i < S.loopBound(n); i += LANES) {
      store(load(a, aAt, i).mul(load(b, bAt, i)), out, at, i);
    }
    for (; i < n; i++) {
      set(out, at, i, get(a, aAt, i) * get(b, bAt, i));
    }
  }

  static void add(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment out, long at, int n) {
    int i = 0;
    for (; i < S.loopBound(n); i += LANES) {
      store(load(a, aAt, i).add(load(b, bAt, i)), out, at, i);
    }
    for (; i < n; i++) {
      set(out, at, i, get(a, aAt, i) + get(b, bAt, i));
    }
  }

  static void scale(MemorySegment a, long aAt, float by, MemorySegment out, long at, int n) {
    int i = 0;
    for (; i < S.loopBound(n); i += LANES) {
      store(load(a, aAt, i).mul(by), out, at, i);
    }
    for (; i < n; i++) {
      set(out, at, i, get(a, aAt, i) * by);
    }
  }

  static void shift(MemorySegment a, long aAt, float by, MemorySegment out, long at, int n) {
    int i = 0;
    for (; i < S.loopBound(n); i += LANES) {
      store(load(a, aAt, i).add(by), out, at, i);
    }
    for (; i < n; i++) {
      set(out, at, i, get(a, aAt, i) + by);
    }
  }

  static void scaleColumns(
      MemorySegment a, long aAt, float[] by, int column, MemorySegment out, long at, int n) {
    int i = 0;
    for (; i < S.loopBound(n); i += LANES) {
      store(load(a, aAt, i).mul(FloatVector.fromArray(S, by, column + i)), out, at, i);
    }
    for (; i < n; i++) {
      set(out, at, i, get(a, aAt, i) * by[column + i]);
    }
  }

  static void shiftColumns(
      MemorySegment a, long aAt, float[] by, int column, MemorySegment out, long at, int n) {
    int i = 0;
    for (; i < S.loopBound(n); i += LANES) {
      store(load(a, aAt, i).add(FloatVector.fromArray(S, by, column + i)), out, at, i);
    }
    for (; i < n; i++) {
      set(out, at, i, get(a, aAt, i) + by[column + i]);
    }
  }

  static void addToColumns(MemorySegment a, long aAt, float[] sums, int column, int n) {
    int i = 0;
    for (; i < S.loopBound(n); i += LANES) {
      load(a, aAt, i).add(FloatVector.fromArray(S, sums, column + i)).intoArray(sums, column + i);
    }
    for (; i < n; i++) {
      sums[column + i] += get(a, aAt, i);
    }
  }

  /** Four sums at once: one alone would wait for each addition. */
  static float sum(MemorySegment a, long aAt, int n) {
    FloatVector s0 = FloatVector.zero(S);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    int i = 0;
    for (; i <= n - 4 * LANES; i += 4 * LANES) {
      s0 = s0.add(load(a, aAt, i));
      s1 = s1.add(load(a, aAt, i + LANES));
      s2 = s2.add(load(a, aAt, i + 2 * LANES));
      s3 = s3.add(load(a, aAt, i + 3 * LANES));
    }
    float sum = s0.add(s1).add(s2.add(s3)).reduceLanes(VectorOperators.ADD);
    for (; i < n; i++) {
      sum += get(a, aAt, i);
    }
    return sum;
  }
}
