package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.reference.Casts;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Single elements of each type, compared with the definition of a rounding. */
class ElementTypeTest {
  @ParameterizedTest
  @EnumSource
  void limits(ElementType type) {
    assertThat(Casts.round(1 + type.unitRoundoff(), type)).isEqualTo(1);
    if (type != ElementType.FLOAT64) {
      assertThat(Casts.round(1 + 1.001 * type.unitRoundoff(), type)).isGreaterThan(1);
    }
    assertThat(Casts.round(type.minValue(), type)).isEqualTo(type.minValue());
    assertThat(Casts.round(type.minValue() / 2, type)).isZero();
    double belowNormal = type.minNormal() * (1 - type.unitRoundoff());
    assertThat(Casts.round(type.minNormal(), type)).isEqualTo(type.minNormal());
    assertThat(Casts.round(belowNormal, type)).isEqualTo(type.minNormal());
  }

  @ParameterizedTest
  @EnumSource
  void elementsAreRoundedOnce(ElementType type) {
    SplittableRandom random = new SplittableRandom(type.ordinal());
    MemorySegment elements = MemorySegment.ofArray(new byte[3 * type.bytes() + 1]).asSlice(1);
    for (int i = 0; i < 100_000; i++) {
      double value = Math.scalb(random.nextDouble(-1, 1), random.nextInt(-160, 140));
      type.set(elements, 1, value);
      assertThat(type.get(elements, 1))
          .isEqualTo(Casts.round(value, type))
          .isEqualTo(type.round(value));
    }
    for (Double value : new Double[] {Double.NaN, Double.POSITIVE_INFINITY, -0.0}) {
      type.set(elements, 2, value);
      assertThat((Double) type.get(elements, 2)).isEqualTo(value);
    }
    assertThat(type.get(elements, 0)).isZero();
  }
}
