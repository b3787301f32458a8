package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.codec.NativeOrder;
import org.jspecify.annotations.Nullable;

/** Reads the elements of rows from arrays of codes and scales: each is a code times a scale. */
final class Decoder {
  private Decoder() {}

  /** Decodes the first n elements, which are whole blocks. */
  static void decode(
      CodeFormat format, int block, byte[] codes, float[] scales, float given, float[] y, int n) {
    int before = format.layout().before();
    int size = block + format.layout().more;
    for (int b = 0; b < n / block; b++) {
      int at = b * size;
      float scale =
          switch (format.layout()) {
            case Q8_0, Q8_1 -> float16(codes, at);
            case Q8_K -> Float.intBitsToFloat(NativeOrder.get(Float.BYTES, codes, at));
            case APART -> format.given() ? given : scales[b];
          };
      block(format.float8(), codes, at + before, scale, y, b * block, block);
    }
  }

  private static float float16(byte[] codes, int at) {
    return Float.float16ToFloat((short) NativeOrder.get(Short.BYTES, codes, at));
  }

  private static void block(
      @Nullable Float8 type, byte[] codes, int at, float scale, float[] y, int from, int n) {
    for (int i = 0; i < n; i++) {
      byte code = codes[at + i];
      y[from + i] = scale * (type == null ? code : type.decode(code));
    }
  }
}
