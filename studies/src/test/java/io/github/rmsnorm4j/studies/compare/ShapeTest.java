package io.github.rmsnorm4j.studies.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShapeTest {
  @Test
  void theLastNumberIsTheWidthAndTheOthersAreRows() {
    Shape shape = Shape.parse("128x1024x4096");
    assertThat(shape.rows()).isEqualTo(131_072);
    assertThat(shape.width()).isEqualTo(4096);
    assertThat(shape.elements()).isEqualTo(536_870_912);
    assertThat(shape).hasToString("128 x 1024 x 4096");
    assertThat(shape.withBatch(2)).isEqualTo(Shape.of(2, 1024, 4096));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "8", "8x", "8x-1", "0x8", "8x0", "axb", "8x8.5", "8,8", "8xx8"})
  void whatIsNoShapeIsRefused(String text) {
    assertThatThrownBy(() -> Shape.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("two or more whole numbers from 1 on");
  }

  @Test
  void numbersThatOverflowAreRefused() {
    assertThatThrownBy(() -> Shape.parse("99999999999x8"))
        .hasMessageContaining("a dimension is at most 2147483647");
    assertThatThrownBy(() -> Shape.parse("2147483647x2147483647x2147483647"))
        .hasMessageContaining("over 2^31 - 1 rows");
  }
}
