package io.github.rmsnorm4j.internal.codec;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.kernel.Kernels;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * The codecs at the speed of vectors. The JIT turns plain loops of {@link Float#float16ToFloat} and
 * back into the machine's conversions by itself; bfloat16 it does not, and there is no conversion
 * of float16 vectors in the Vector API of JDK 25.
 */
final class VectorCodec {
  private static final NarrowCodec.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), NarrowCodec.Spec.class);
  private static final boolean HALF = SPEC.type() == ElementType.FLOAT16;
  private static final VectorShape SHAPE = VectorShape.forBitSize(SPEC.vectorBits());
  private static final VectorSpecies<Float> F = VectorSpecies.of(float.class, SHAPE);
  private static final VectorSpecies<Integer> I = VectorSpecies.of(int.class, SHAPE);
  private static final VectorSpecies<Short> WHOLE = VectorSpecies.of(short.class, SHAPE);

  /** As many shorts as {@link #I} has ints. */
  private static final VectorSpecies<Short> S =
      VectorSpecies.of(short.class, VectorShape.forBitSize(SPEC.vectorBits() / 2));

  private VectorCodec() {}

  static void decode(short[] from, float[] into, int n) {
    if (HALF) {
      for (int i = 0; i < n; i++) {
        into[i] = Float.float16ToFloat(from[i]);
      }
      return;
    }
    int whole = I.loopBound(n);
    for (int i = 0; i < whole; i += I.length()) {
      IntVector patterns = (IntVector) ShortVector.fromArray(S, from, i).castShape(I, 0);
      patterns.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().intoArray(into, i);
    }
    for (int i = whole; i < n; i++) {
      into[i] = Narrow.bfloat16ToFloat(from[i]);
    }
  }

  static void encode(float[] from, short[] into, int n) {
    if (HALF) {
      encodeHalf(from, into, n);
      if (hasNan(into, n)) {
        for (int i = 0; i < n; i++) {
          into[i] = Narrow.floatToFloat16(from[i]);
        }
      }
      return;
    }
    int whole = I.loopBound(n);
    for (int i = 0; i < whole; i += I.length()) {
      IntVector bits = FloatVector.fromArray(F, from, i).reinterpretAsInts();
      IntVector odd = bits.lanewise(VectorOperators.LSHR, 16).and(1);
      IntVector rounded = odd.add(0x7fff).add(bits).lanewise(VectorOperators.ASHR, 16);
      IntVector patterns =
          rounded.blend(
              Narrow.BFLOAT16_NAN, bits.and(0x7fffffff).compare(VectorOperators.GT, 0x7f800000));
      ((ShortVector) patterns.castShape(S, 0)).intoArray(into, i);
    }
    for (int i = whole; i < n; i++) {
      into[i] = Narrow.floatToBfloat16(from[i]);
    }
  }

  private static void encodeHalf(float[] from, short[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.floatToFloat16(from[i]);
    }
  }

  /** Whether any float16 pattern is a NaN: looking for the largest is quicker than blending. */
  private static boolean hasNan(short[] patterns, int n) {
    ShortVector largest = ShortVector.zero(WHOLE);
    int whole = WHOLE.loopBound(n);
    for (int i = 0; i < whole; i += WHOLE.length()) {
      largest = largest.max(ShortVector.fromArray(WHOLE, patterns, i).and((short) 0x7fff));
    }
    int max = largest.reduceLanes(VectorOperators.MAX);
    for (int i = whole; i < n; i++) {
      max = Math.max(max, patterns[i] & 0x7fff);
    }
    return max > 0x7c00;
  }
}
