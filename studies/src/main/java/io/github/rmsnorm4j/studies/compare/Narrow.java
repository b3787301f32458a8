package io.github.rmsnorm4j.studies.compare;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Blocks of 16-bit elements as float32, in the cache: eager kernels convert on the way in and round
 * on the way out. One for each thread.
 *
 * <p>The conversion of bfloat16 is written with vectors here, as frameworks have it: the eager
 * passes that are timed must not lose time with it. A block is a whole number of vectors, so the
 * last vector may convert elements behind the n-th.
 */
final class Narrow {
  /** Elements. */
  static final int BLOCK = 1024;

  private static final VectorSpecies<Integer> I = IntVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Short> S =
      VectorSpecies.of(short.class, VectorShape.forBitSize(I.vectorBitSize() / 2));

  /** Native, as tensors are: loops that meet heap memory as well are compiled to be slower. */
  final MemorySegment left = Arena.ofAuto().allocate(4L * BLOCK, 64);

  final MemorySegment right = Arena.ofAuto().allocate(4L * BLOCK, 64);
  private final short[] patterns = new short[BLOCK];
  private final float[] values = new float[BLOCK];

  void decode(ElementType type, MemorySegment from, long at, MemorySegment into, int n) {
    MemorySegment.copy(from, JAVA_SHORT_UNALIGNED, at, patterns, 0, n);
    if (type == ElementType.FLOAT16) {
      for (int i = 0; i < n; i++) {
        values[i] = Float.float16ToFloat(patterns[i]);
      }
    } else {
      decodeBfloat16(n);
    }
    MemorySegment.copy(values, 0, into, JAVA_FLOAT_UNALIGNED, 0, n);
  }

  void encode(ElementType type, MemorySegment from, MemorySegment into, long at, int n) {
    MemorySegment.copy(from, JAVA_FLOAT_UNALIGNED, 0, values, 0, n);
    if (type == ElementType.FLOAT16) {
      for (int i = 0; i < n; i++) {
        patterns[i] = Float.floatToFloat16(values[i]);
      }
    } else {
      encodeBfloat16(n);
    }
    MemorySegment.copy(patterns, 0, into, JAVA_SHORT_UNALIGNED, at, n);
  }

  private void decodeBfloat16(int n) {
    for (int i = 0; i < n; i += I.length()) {
      IntVector bits = (IntVector) ShortVector.fromArray(S, patterns, i).castShape(I, 0);
      bits.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().intoArray(values, i);
    }
  }

  /** To nearest, ties to even; rows compared here have no NaN. */
  private void encodeBfloat16(int n) {
    for (int i = 0; i < n; i += I.length()) {
      IntVector bits = FloatVector.fromArray(F, values, i).reinterpretAsInts();
      IntVector odd = bits.lanewise(VectorOperators.LSHR, 16).and(1);
      IntVector rounded = odd.add(0x7fff).add(bits).lanewise(VectorOperators.ASHR, 16);
      ((ShortVector) rounded.castShape(S, 0)).intoArray(patterns, i);
    }
  }
}
