package io.github.rmsnorm4j.models.families;

import java.util.Set;

/**
 * A norm as published Python code computes it, in plain float32 and in the order of its lines.
 *
 * @param code what the code does, as read-from-code.txt names it: {@code late}, {@code early},
 *     {@code one}, {@code layer} or {@code layer0}, then {@code /2}, {@code silu*}, {@code *silu}
 *     or {@code *sigmoid}
 * @param epsilon added to the mean of the squares
 */
record CodeNorm(Set<String> code, double epsilon) {
  /** The result of a row; {@code bfloat16} rounds where the code casts to the type of the row. */
  float[] apply(float[] row, float[] gain, float[] bias, float[] gate, boolean bfloat16) {
    int groups = code.contains("/2") ? 2 : row.length / gain.length;
    int width = row.length / groups;
    float[] result = new float[row.length];
    for (int group = 0; group < groups; group++) {
      float[] x = new float[width];
      for (int i = 0; i < width; i++) {
        int at = group * width + i;
        x[i] = code.contains("silu*") ? row[at] * silu(gate[at]) : row[at];
      }
      float mean = layer() ? mean(x) : 0;
      float[] squares = new float[width];
      for (int i = 0; i < width; i++) {
        x[i] -= mean;
        squares[i] = x[i] * x[i];
      }
      float r = 1 / (float) Math.sqrt(mean(squares) + (float) epsilon);
      for (int i = 0; i < width; i++) {
        int at = group * width + i;
        int of = at % gain.length;
        float value = scaled(x[i] * r, gain[of], bfloat16);
        if (code.contains("layer")) {
          value += bias[of];
        } else if (code.contains("*silu")) {
          value *= silu(gate[at]);
        } else if (code.contains("*sigmoid")) {
          value *= sigmoid(gate[at]);
        }
        result[at] = cast(value, bfloat16);
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

  boolean layer() {
    return code.contains("layer") || code.contains("layer0");
  }

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

  /** The nearest bfloat16, of two the even one. */
  static float cast(float value, boolean bfloat16) {
    if (!bfloat16) {
      return value;
    }
    int bits = Float.floatToRawIntBits(value);
    int even = bits >>> 16 & 1;
    return Float.intBitsToFloat(bits + 0x7FFF + even & 0xFFFF0000);
  }
}
