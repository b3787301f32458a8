package io.github.rmsnorm4j.models.families;

import java.util.Set;

/**
 * A norm as published Python code computes it, operation by operation.
 *
 * @param code what the code does, in the words of read-from-code.txt
 * @param epsilon added to the mean of the squares
 */
record CodeNorm(Set<String> code, double epsilon) {
  /** The result of a row; {@code bfloat16} rounds where the code casts to the type of the row. */
  float[] apply(float[] row, float[] gain, float[] bias, float[] gate, boolean bfloat16) {
    int groups = code.contains("/2") ? 2 : row.length / gain.length;
    int width = row.length / groups;
    float[] result = new float[row.length];
    for (int from = 0; from < row.length; from += width) {
      float[] x = new float[width];
      for (int i = 0; i < width; i++) {
        x[i] = row[from + i] * (code.contains("silu*") ? silu(gate[from + i]) : 1);
      }
      float mean = isLayerNorm() ? mean(x) : 0;
      float[] squares = new float[width];
      for (int i = 0; i < width; i++) {
        x[i] -= mean;
        squares[i] = x[i] * x[i];
      }
      // The last bit of rsqrt differs by device; the nearest float32 is the library's contract.
      float r = (float) (1 / Math.sqrt(mean(squares) + epsilon));
      for (int i = 0; i < width; i++) {
        int of = (from + i) % gain.length;
        float y = scaled(x[i] * r, gain[of], bfloat16);
        if (hasBias()) {
          y += bias[of];
        } else if (code.contains("*silu")) {
          y *= silu(gate[from + i]);
        } else if (code.contains("*sigmoid")) {
          y *= sigmoid(gate[from + i]);
        }
        result[from + i] = cast(y, bfloat16);
      }
    }
    return result;
  }

  private float scaled(float normed, float gain, boolean bfloat16) {
    if (code.contains("one")) {
      return normed * (1 + gain);
    }
    // A product of two numbers of the row's type is of that type.
    return code.contains("late") ? cast(gain * cast(normed, bfloat16), bfloat16) : gain * normed;
  }

  /** Whether the gain is stored less 1. */
  boolean storesLessOne() {
    return code.contains("one");
  }

  boolean hasBias() {
    return code.contains("layer");
  }

  private boolean isLayerNorm() {
    return hasBias() || code.contains("layer0");
  }

  /** Rows are drawn so that every sum is exact in float32, in whatever order it is taken. */
  private static float mean(float[] x) {
    float sum = 0;
    for (float value : x) {
      sum += value;
    }
    return sum / x.length;
  }

  private static float silu(float z) {
    return z * sigmoid(z);
  }

  private static float sigmoid(float z) {
    return 1 / (1 + (float) Math.exp(-z));
  }

  private static float cast(float value, boolean bfloat16) {
    return bfloat16 ? (float) StoredType.BF16.round(value) : value;
  }
}
