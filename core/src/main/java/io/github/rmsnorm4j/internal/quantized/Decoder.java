package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.internal.codec.Float8;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** Reads the elements of rows from arrays of codes and scales: each is a code times a scale. */
final class Decoder {
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.nativeOrder());
  private static final VarHandle FLOATS =
      MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.nativeOrder());

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
            case Q8_0, Q8_1 -> Float.float16ToFloat((short) SHORTS.get(codes, at));
            case Q8_K -> (float) FLOATS.get(codes, at);
            case APART -> format.given() ? given : scales[b];
          };
      block(format.float8(), codes, at + before, scale, y, b * block, block);
    }
  }

  private static void block(
      @Nullable Float8 type, byte[] codes, int at, float scale, float[] y, int from, int n) {
    for (int i = 0; i < n; i++) {
      byte code = codes[at + i];
      y[from + i] = scale * (type == null ? code : type.decode(code));
    }
  }
}
