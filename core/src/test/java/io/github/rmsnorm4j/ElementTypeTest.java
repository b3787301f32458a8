package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.rmsnorm4j.reference.Casts;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

  /** The numbers of IEEE 754, and of the upper half of a binary32. */
  @ParameterizedTest
  @CsvSource({
    "FLOAT64, 0x1p-53, 0x1p-1022, 0x1p-1074",
    "FLOAT32, 0x1p-24, 0x1p-126, 0x1p-149",
    "FLOAT16, 0x1p-11, 0x1p-14, 0x1p-24",
    "BFLOAT16, 0x1p-8, 0x1p-126, 0x1p-133"
  })
  void limitsAreThoseOfTheFormat(ElementType type, double roundoff, double normal, double least) {
    assertThat(type.unitRoundoff()).isEqualTo(roundoff);
    assertThat(type.minNormal()).isEqualTo(normal);
    assertThat(type.minValue()).isEqualTo(least);
  }

  @ParameterizedTest
  @CsvSource({
    "f64, FLOAT64",
    "float64, FLOAT64",
    "torch.double, FLOAT64",
    "F32, FLOAT32",
    "float32, FLOAT32",
    "float, FLOAT32",
    "torch.float32, FLOAT32",
    "f16, FLOAT16",
    "Float16, FLOAT16",
    "half, FLOAT16",
    "torch.half, FLOAT16",
    "bf16, BFLOAT16",
    "BF16, BFLOAT16",
    "bfloat16, BFLOAT16",
    "torch.bfloat16, BFLOAT16"
  })
  void namesOfOtherSystemsAreRead(String name, ElementType type) {
    assertThat(ElementType.ofName(name)).isEqualTo(type);
  }

  @Test
  void otherNamesAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ElementType.ofName("torch.int8"))
        .withMessage(
            "type is 'torch.int8', it may be f16, bf16, f32 or f64 (float16, bfloat16, ...)");
    assertThat(ElementType.values())
        .extracting(ElementType::shortName)
        .containsExactly("f64", "f32", "f16", "bf16");
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
