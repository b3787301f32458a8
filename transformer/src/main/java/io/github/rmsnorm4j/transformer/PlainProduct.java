package io.github.rmsnorm4j.transformer;

/**
 * Products of matrices in plain Java. Each element is one float32 sum in the order of the inner
 * index, without fused multiply-adds. So its bits do not depend on the machine, on the compiler or
 * on the other rows of the product.
 */
final class PlainProduct {
  /** Sums that are computed side by side, because each waits for its own last addition. */
  private static final int SIDE_BY_SIDE = 8;

  private PlainProduct() {}

  /** {@code c = alpha * op(a) op(b) + beta * c}; shapes are not checked here. */
  static void multiply(
      Matrix a,
      boolean transposeA,
      Matrix b,
      boolean transposeB,
      float alpha,
      float beta,
      Matrix c) {
    float[] row = new float[transposeA ? a.rows : a.columns];
    float[] sums = new float[SIDE_BY_SIDE];
    Floats to = c.floats();
    long column = transposeB ? b.stride : 1;
    long step = transposeB ? 1 : b.stride;
    Floats right = b.floats();
    for (int i = 0; i < c.rows; i++) {
      copy(a, transposeA, i, row);
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

  /** A row of op(a). */
  private static void copy(Matrix a, boolean transposed, int i, float[] row) {
    Floats from = a.floats();
    long first = transposed ? i : (long) i * a.stride;
    long step = transposed ? a.stride : 1;
    for (int k = 0; k < row.length; k++) {
      row[k] = from.get(first + k * step);
    }
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
      float[] row, Floats right, long first, long column, long step, int last, float[] sums) {
    long c1 = first + Math.min(1, last) * column;
    long c2 = first + Math.min(2, last) * column;
    long c3 = first + Math.min(3, last) * column;
    long c4 = first + Math.min(4, last) * column;
    long c5 = first + Math.min(5, last) * column;
    long c6 = first + Math.min(6, last) * column;
    long c7 = first + Math.min(7, last) * column;
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
      long at = k * step;
      s0 += value * right.get(first + at);
      s1 += value * right.get(c1 + at);
      s2 += value * right.get(c2 + at);
      s3 += value * right.get(c3 + at);
      s4 += value * right.get(c4 + at);
      s5 += value * right.get(c5 + at);
      s6 += value * right.get(c6 + at);
      s7 += value * right.get(c7 + at);
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
}
