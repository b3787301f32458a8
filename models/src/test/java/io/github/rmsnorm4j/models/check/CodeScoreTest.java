package io.github.rmsnorm4j.models.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CodeScoreTest {
  private static final int BLOCKS = 3;

  /** Where a byte of the second block is changed: what counts as its scale, and what as a code. */
  @ParameterizedTest
  @CsvSource({
    "q8_0, 0, true",
    "q8_0, 1, true",
    "q8_0, 2, false",
    "q8_0, 33, false",
    "q8_1, 3, true",
    "q8_1, 4, false",
    "q8_1, 35, false",
    "q8_k, 3, true",
    "q8_k, 4, false",
    "q8_k, 259, false",
    "q8_k, 260, true",
    "q8_k, 291, true"
  })
  void aByteOfABlockIsOfItsScaleOrACode(String name, int at, boolean scale) {
    QuantizedType type = QuantizedType.ofName(name);
    int block = type.block(1);
    byte[] made = new byte[(int) type.rowBytes(BLOCKS * block)];
    byte[] y = made.clone();
    y[(int) type.rowBytes(block) + at] = -3;
    CodeScore score =
        CodeScore.of(
            QuantizedRows.of(made, type, BLOCKS * block),
            QuantizedRows.of(y, type, BLOCKS * block));
    int codes = BLOCKS * block;
    assertThat(score)
        .isEqualTo(
            scale
                ? new CodeScore(codes, codes, BLOCKS - 1, BLOCKS, 0)
                : new CodeScore(codes - 1, codes, BLOCKS, BLOCKS, 3));
    assertThat(score.exact()).isFalse();
  }

  @Test
  void scalesApartAreCompared() {
    float[] scales = {1, Float.NaN, -0f, 4};
    CodeScore score =
        CodeScore.of(
            QuantizedRows.of(new byte[128], scales, QuantizedType.int8(32), 64),
            QuantizedRows.of(
                new byte[128], new float[] {1, Float.NaN, 0, 5}, QuantizedType.int8(32), 64));
    assertThat(score).isEqualTo(new CodeScore(128, 128, 2, 4, 0));
    assertThat(score.shares()).isEqualTo(1.5);
  }

  /** From the code before 0 to the one after it. */
  @Test
  void codesOfFloat8AreStepsFromZero() {
    byte[] made = {(byte) 0x81, 5};
    byte[] y = {1, 5};
    CodeScore score =
        CodeScore.of(
            QuantizedRows.of(made, new float[1], QuantizedType.e4m3PerRow(), 2),
            QuantizedRows.of(y, new float[1], QuantizedType.e4m3PerRow(), 2));
    assertThat(score).isEqualTo(new CodeScore(1, 2, 1, 1, 2));
  }
}
