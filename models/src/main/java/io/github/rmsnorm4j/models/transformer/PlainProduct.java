package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Products of matrices in plain Java: {@link MatrixProduct#PLAIN_JAVA}. */
final class PlainProduct implements MatrixProduct {
  /** Columns of op(b) that are copied at a time: they stay in a cache. */
  private static final int COLUMNS = 64;

  @Override
  public void multiply(
      Matrix a,
      boolean transposeA,
      Matrix b,
      boolean transposeB,
      float alpha,
      float beta,
      Matrix c) {
    MatrixProduct.requireFit(a, transposeA, b, transposeB, c);
    int inner = transposeA ? a.rows : a.columns;
    for (int first = 0; first < c.columns; first += COLUMNS) {
      int count = Math.min(COLUMNS, c.columns - first);
      float[] right = columns(b, transposeB, first, count);
      float[] sums = new float[count];
      for (int i = 0; i < c.rows; i++) {
        Arrays.fill(sums, 0);
        for (int k = 0; k < inner; k++) {
          long at = transposeA ? (long) k * a.stride + i : (long) i * a.stride + k;
          addScaled(a.floats().get(at), right, k * count, sums);
        }
        store(alpha, sums, beta, c.floats(), (long) i * c.stride + first);
      }
    }
  }

  /**
   * Some columns of op(b), row by row without gaps: loops over arrays are fast in every process.
   */
  private static float[] columns(Matrix b, boolean transposeB, int first, int count) {
    int rows = transposeB ? b.columns : b.rows;
    float[] copy = new float[Math.multiplyExact(rows, count)];
    float[] row = new float[transposeB ? rows : count];
    for (int i = 0; i < (transposeB ? count : rows); i++) {
      long from = transposeB ? (long) (first + i) * b.stride : (long) i * b.stride + first;
      long at = from * Float.BYTES;
      MemorySegment.copy(b.segment, ValueLayout.JAVA_FLOAT, at, row, 0, row.length);
      for (int j = 0; j < row.length; j++) {
        copy[transposeB ? j * count + i : i * count + j] = row[j];
      }
    }
    return copy;
  }

  /** The sums of a row of the product grow side by side, which the JIT makes vectors of. */
  private static void addScaled(float factor, float[] right, int first, float[] sums) {
    for (int j = 0; j < sums.length; j++) {
      sums[j] += factor * right[first + j];
    }
  }

  private static void store(float alpha, float[] sums, float beta, Floats c, long first) {
    for (int j = 0; j < sums.length; j++) {
      float product = alpha * sums[j];
      // With beta 0 what is there does not count, even if it is NaN.
      c.set(first + j, beta == 0 ? product : product + beta * c.get(first + j));
    }
  }

  @Override
  public String toString() {
    return "plain Java";
  }
}
