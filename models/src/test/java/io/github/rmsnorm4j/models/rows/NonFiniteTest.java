package io.github.rmsnorm4j.models.rows;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class NonFiniteTest {
  @ParameterizedTest
  @EnumSource(names = {"FLOAT16", "BFLOAT16"})
  void everyValueOfSixteenBits(ElementType type) {
    MemorySegment all = MemorySegment.ofArray(new byte[2 << 16]);
    long expected = 0;
    for (int bits = 0; bits < 1 << 16; bits++) {
      all.set(JAVA_SHORT_UNALIGNED, 2L * bits, (short) bits);
      float value =
          type == ElementType.FLOAT16
              ? Float.float16ToFloat((short) bits)
              : Float.intBitsToFloat(bits << 16);
      expected += Float.isFinite(value) ? 0 : 1;
    }
    assertThat(new NonFinite(type).count(all)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 7, 8, 9, 16383, 16384, 16385, 50001})
  void anyNumberOfElements(int count) {
    Random random = new Random(count);
    byte[] floats = new byte[4 * count];
    byte[] doubles = new byte[8 * count];
    MemorySegment f = MemorySegment.ofArray(floats);
    MemorySegment d = MemorySegment.ofArray(doubles);
    long expected = 0;
    double[] values = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY};
    for (int i = 0; i < count; i++) {
      boolean finite = random.nextInt(count > 100 ? 1000 : 2) > 0;
      double value = finite ? random.nextGaussian() : values[random.nextInt(3)];
      f.set(JAVA_FLOAT_UNALIGNED, 4L * i, (float) value);
      d.set(JAVA_DOUBLE_UNALIGNED, 8L * i, value);
      expected += finite ? 0 : 1;
    }
    assertThat(new NonFinite(ElementType.FLOAT32).count(f)).isEqualTo(expected);
    assertThat(new NonFinite(ElementType.FLOAT64).count(d)).isEqualTo(expected);
  }

  @Test
  void theLargestNumbersAreFinite() {
    MemorySegment f = MemorySegment.ofArray(new byte[4]);
    f.set(JAVA_FLOAT_UNALIGNED, 0, -Float.MAX_VALUE);
    assertThat(new NonFinite(ElementType.FLOAT32).count(f)).isZero();
    MemorySegment d = MemorySegment.ofArray(new byte[8]);
    d.set(JAVA_DOUBLE_UNALIGNED, 0, -Double.MAX_VALUE);
    assertThat(new NonFinite(ElementType.FLOAT64).count(d)).isZero();
  }
}
