package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Products of matrices in plain Java: {@link MatrixProduct#PLAIN_JAVA}. */
final class PlainProduct implements MatrixProduct {
  /** Sums that are computed side by side, because each waits for its own last addition. */
  private static final int SIDE_BY_SIDE = 8;

  /** Elements of b that are copied at a time where b is transposed, as all weights are: 16 MiB. */
  private static final int PIECE = 1 << 22;

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
    int most = Math.max(1, PIECE / b.columns);
    if (transposeB && b.rows > most) {
      for (int first = 0; first < b.rows; first += most) {
        int count = Math.min(most, b.rows - first);
        Matrix some = b.block(first, 0, count, b.columns);
        multiply(a, transposeA, some, true, alpha, beta, c.block(0, first, c.rows, count));
      }
      return;
    }
    float[] left = copy(a);
    float[] right = copy(b);
    float[] row = new float[transposeA ? a.rows : a.columns];
    float[] sums = new float[SIDE_BY_SIDE];
    Floats to = c.floats();
    int column = transposeB ? b.columns : 1;
    int step = transposeB ? 1 : b.columns;
    for (int i = 0; i < c.rows; i++) {
      for (int k = 0; k < row.length; k++) {
        row[k] = left[transposeA ? k * a.columns + i : i * a.columns + k];
      }
      for (int j = 0; j < c.columns; j += SIDE_BY_SIDE) {
        int count = Math.min(SIDE_BY_SIDE, c.columns - j);
        sum(row, right, j * column, column, step, count - 1, sums);
        long first = (long) i * c.stride + j;
        for (int k = 0; k < count; k++) {
          float product = alpha * sums[k];
          // With beta 0 what is there does not count, even if it is NaN.
          to.set(first + k, beta == 0 ? product : product + beta * to.get(first + k));
        }
      }
    }
  }

  /** The elements without gaps, in an array: loops over arrays are fast in every process. */
  private static float[] copy(Matrix from) {
    float[] elements = new float[Math.multiplyExact(from.rows, from.columns)];
    for (int i = 0; i < from.rows; i++) {
      long first = (long) i * from.stride * Float.BYTES;
      int at = i * from.columns;
      MemorySegment.copy(from.segment, ValueLayout.JAVA_FLOAT, first, elements, at, from.columns);
    }
    return elements;
  }

  /**
   * The products of a row and some columns, of which the last is computed again for those that are
   * not there.
   *
   * @param first where the first column begins
   * @param column from the beginning of a column to that of the next
   * @param step from an element of a column to the next
   * @param last index of the last column
   */
  private static void sum(
      float[] row, float[] right, int first, int column, int step, int last, float[] sums) {
    int c1 = first + Math.min(1, last) * column;
    int c2 = first + Math.min(2, last) * column;
    int c3 = first + Math.min(3, last) * column;
    int c4 = first + Math.min(4, last) * column;
    int c5 = first + Math.min(5, last) * column;
    int c6 = first + Math.min(6, last) * column;
    int c7 = first + Math.min(7, last) * column;
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    float s4 = 0;
    float s5 = 0;
    float s6 = 0;
    float s7 = 0;
    for (int k = 0; k < row.length; k++) {
      float value = row[k];
      int at = k * step;
      s0 += value * right[first + at];
      s1 += value * right[c1 + at];
      s2 += value * right[c2 + at];
      s3 += value * right[c3 + at];
      s4 += value * right[c4 + at];
      s5 += value * right[c5 + at];
      s6 += value * right[c6 + at];
      s7 += value * right[c7 + at];
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
    sums[4] = s4;
    sums[5] = s5;
    sums[6] = s6;
    sums[7] = s7;
  }

  @Override
  public String toString() {
    return "plain Java";
  }
}
