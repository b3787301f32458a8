package io.github.rmsnorm4j.internal.first;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.quantized.CodeLayout;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A row as blocks of Q8_0, as ggml's programs write them: a float16 scale and 32 int8 codes. With
 * {@code a} the largest magnitude of a block the scale is {@code d = a / 127}, and codes are {@code
 * y * (127 / a)} or {@code y * (1 / d)}, rounded to an integer.
 */
final class Q8Blocks {
  private static final int BLOCK = 32;
  private static final float MOST = 127;
  private static final int MAGNITUDE = 0x7fffffff;

  /** The last digit is worth 1: a sum with it is rounded to an integer, ties to even. */
  private static final float TO_EVEN = 0x1.8p23f;

  private static final boolean BIG_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

  private Q8Blocks() {}

  /** Whether codes are stored so, and come by a rule of a program of ggml. */
  static boolean serves(CodeMemory codes, CodeRule rule) {
    return codes.format().layout() == CodeLayout.Q8_0
        && rule.factor() != CodeFactor.DIVISION
        && rule.rounding() != CodeRounding.HALF_ADDED;
  }

  /** Encodes the first n elements, which are whole blocks. */
  static void encode(float[] y, int n, CodeRule rule, byte[] into) {
    boolean ratio = rule.factor() == CodeFactor.RATIO;
    boolean even = rule.rounding() == CodeRounding.EVEN;
    for (int i = 0, at = 0; i < n; i += BLOCK, at += Short.BYTES + BLOCK) {
      float largest = largest(y, i);
      float scale = largest / MOST;
      float factor = ratio ? MOST / largest : 1 / scale;
      boolean hasCodes = scale > 0 && factor > 0 && factor <= Float.MAX_VALUE;
      float stored = hasCodes || !(largest <= Float.MAX_VALUE) ? scale : 0;
      short bits = Narrow.floatToFloat16(stored);
      into[at + (BIG_ENDIAN ? 1 : 0)] = (byte) bits;
      into[at + (BIG_ENDIAN ? 0 : 1)] = (byte) (bits >> Byte.SIZE);
      if (!hasCodes) {
        Arrays.fill(into, at + Short.BYTES, at + Short.BYTES + BLOCK, (byte) 0);
      } else if (even) {
        even(y, i, factor, into, at + Short.BYTES);
      } else {
        away(y, i, factor, into, at + Short.BYTES);
      }
    }
  }

  /** The largest magnitude; NaN if there is one. */
  private static float largest(float[] y, int from) {
    int largest = 0;
    for (int i = from; i < from + BLOCK; i++) {
      largest = Math.max(largest, Float.floatToRawIntBits(y[i]) & MAGNITUDE);
    }
    return Float.intBitsToFloat(largest);
  }

  private static void even(float[] y, int from, float factor, byte[] into, int at) {
    for (int i = 0; i < BLOCK; i++) {
      into[at + i] = (byte) Float.floatToRawIntBits(y[from + i] * factor + TO_EVEN);
    }
  }

  /** Ties go away from 0. Adding a half is exact in float64. */
  private static void away(float[] y, int from, float factor, byte[] into, int at) {
    for (int i = 0; i < BLOCK; i++) {
      float code = y[from + i] * factor;
      into[at + i] = (byte) (int) (code + Math.copySign(0.5, code));
    }
  }
}
