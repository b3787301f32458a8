package io.github.rmsnorm4j.transformer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Products of matrices in plain Java. Each element is one float32 sum in the order of the inner
 * index, without fused multiply-adds. So its bits do not depend on the machine, on the compiler or
 * on the other rows of the product.
 */
final class PlainProduct {
  /** Sums that are computed side by side, because each waits for its own last addition. */
  private static final int SIDE_BY_SIDE = 4;

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
    int inner = transposeA ? a.rows : a.columns;
    float[] left = rows(a, transposeA);
    float[] right = rows(b, !transposeB); // The columns of op(b), one after the other.
    float[] sums = new float[SIDE_BY_SIDE];
    Floats to = c.floats();
    for (int j = 0; j < c.columns; j += SIDE_BY_SIDE) {
      int count = Math.min(SIDE_BY_SIDE, c.columns - j);
      for (int i = 0; i < c.rows; i++) {
        sum(left, i * inner, right, j * inner, inner, count, sums);
        long first = (long) i * c.stride + j;
        for (int k = 0; k < count; k++) {
          float product = alpha * sums[k];
          // With beta 0 what is there does not count, even if it is NaN.
          to.set(first + k, beta == 0 ? product : product + beta * to.get(first + k));
        }
      }
    }
  }

  /** A matrix or its transpose, row after row without gaps. Loops over arrays start fast. */
  private static float[] rows(Matrix matrix, boolean transposed) {
    int rows = matrix.rows;
    int columns = matrix.columns;
    float[] all = new float[Math.multiplyExact(rows, columns)];
    Floats from = transposed ? matrix.floats() : null;
    for (int row = 0; row < rows; row++) {
      long first = (long) row * matrix.stride;
      if (!transposed) {
        MemorySegment.copy(
            matrix.segment,
            ValueLayout.JAVA_FLOAT,
            first * Float.BYTES,
            all,
            row * columns,
            columns);
      }
      for (int column = 0; transposed && column < columns; column++) {
        all[column * rows + row] = from.get(first + column);
      }
    }
    return all;
  }

  /** The products of one row of the left side and some of the right side. */
  private static void sum(
      float[] left, int x, float[] right, int y, int inner, int count, float[] sums) {
    if (count == SIDE_BY_SIDE) {
      int y1 = y + inner;
      int y2 = y1 + inner;
      int y3 = y2 + inner;
      float s0 = 0;
      float s1 = 0;
      float s2 = 0;
      float s3 = 0;
      for (int k = 0; k < inner; k++) {
        float value = left[x + k];
        s0 += value * right[y + k];
        s1 += value * right[y1 + k];
        s2 += value * right[y2 + k];
        s3 += value * right[y3 + k];
      }
      sums[0] = s0;
      sums[1] = s1;
      sums[2] = s2;
      sums[3] = s3;
      return;
    }
    for (int i = 0; i < count; i++) {
      float sum = 0;
      for (int k = 0; k < inner; k++) {
        sum += left[x + k] * right[y + i * inner + k];
      }
      sums[i] = sum;
    }
  }
}
