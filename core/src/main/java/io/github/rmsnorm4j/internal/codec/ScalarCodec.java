package io.github.rmsnorm4j.internal.codec;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.kernel.Kernels;
import java.lang.invoke.MethodHandles;

/** The codecs in plain Java. */
final class ScalarCodec {
  private static final boolean HALF =
      Kernels.choices(MethodHandles.lookup(), NarrowCodec.Spec.class).type() == ElementType.FLOAT16;

  private ScalarCodec() {}

  static void decode(short[] from, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = HALF ? Float.float16ToFloat(from[i]) : Narrow.bfloat16ToFloat(from[i]);
    }
  }

  static void encode(float[] from, short[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = HALF ? Narrow.floatToFloat16(from[i]) : Narrow.floatToBfloat16(from[i]);
    }
  }
}
