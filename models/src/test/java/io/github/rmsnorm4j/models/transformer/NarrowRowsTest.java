package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Rows of 16 bits in a model's norm are those that the library's norm has. */
class NarrowRowsTest {
  private static final int WIDTH = 12;
  private static final int ROWS = 3;

  private static Tape tape(Weights weights, ElementType type) {
    return new Tape(weights, 1, ROWS, ROWS, false, 1, Arithmetic.PLAIN.withNormRows(type));
  }

  /** Every value of the type, and what lies between it and the next. */
  @ParameterizedTest
  @EnumSource(names = {"FLOAT16", "BFLOAT16"})
  void roundedToNearestTiesToEven(ElementType type) {
    boolean bfloat16 = type == ElementType.BFLOAT16;
    int largest = bfloat16 ? 0x7f7f : 0x7bff;
    try (Arena arena = Arena.ofConfined()) {
      Matrix x = Matrix.allocate(arena, largest, 1);
      Matrix y = Matrix.allocate(arena, largest, 1);
      MemorySegment rows = arena.allocate(2L * largest, Short.BYTES);
      for (double between : new double[] {0, 0.49, 0.5, 0.51}) {
        for (int i = 0; i < largest; i++) {
          float sign = i % 3 == 0 ? -1 : 1;
          x.floats()
              .set(i, sign * (float) between(value(i, bfloat16), value(i + 1, bfloat16), between));
        }
        NormLayer.round(x, type, rows);
        NormLayer.widen(rows, type, y);
        for (int i = 0; i < largest; i++) {
          float exact = Configs.element(x, i, 0);
          float below = value(i, bfloat16);
          float above = value(i + 1, bfloat16);
          assertThat(Math.abs(Configs.element(y, i, 0)))
              .as("%s", exact)
              .isEqualTo(nearest(Math.abs(exact), below, above, i % 2 == 0));
          assertThat(Math.copySign(1, Configs.element(y, i, 0))).isEqualTo(Math.copySign(1, exact));
        }
      }
      x.floats().set(0, Float.NaN);
      x.floats().set(1, Float.NEGATIVE_INFINITY);
      x.floats().set(2, Float.intBitsToFloat(0x7fffffff));
      NormLayer.round(x, type, rows);
      NormLayer.widen(rows, type, y);
      assertThat(Configs.element(y, 0, 0)).isNaN();
      assertThat(Configs.element(y, 1, 0)).isEqualTo(Float.NEGATIVE_INFINITY);
      assertThat(Configs.element(y, 2, 0)).isNaN();
    }
  }

  private static double between(float below, float above, double share) {
    return below + share * ((double) above - below);
  }

  private static float value(int bits, boolean bfloat16) {
    return bfloat16 ? Float.intBitsToFloat(bits << Short.SIZE) : Float.float16ToFloat((short) bits);
  }

  private static float nearest(float x, float below, float above, boolean belowIsEven) {
    BigDecimal toBelow = new BigDecimal(x).subtract(new BigDecimal(below));
    BigDecimal toAbove = new BigDecimal(above).subtract(new BigDecimal(x));
    int order = toBelow.compareTo(toAbove);
    return order < 0 || order == 0 && belowIsEven ? below : above;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "rmsnorm(eps=1e-3); BFLOAT16",
        "llama(eps=1e-3); BFLOAT16",
        "onnx(eps=1e-3); FLOAT16",
        "llama(eps=1e-3, part=3/10); FLOAT16",
        "paper(eps=1e-3, offset=1); FLOAT16",
        "layernorm(eps=1e-3); BFLOAT16"
      })
  void aLayerGivesWhatTheLibraryGives(NormSpec spec, ElementType type) {
    ModelConfig config = Configs.tiny(o -> o.norm = spec);
    try (Weights weights = Configs.weights(config, 5);
        Tape tape = tape(weights, type)) {
      Variable input = tape.variable(WIDTH, "x");
      Matrix x = input.values;
      SeededRandom random = new SeededRandom(5, 1);
      short[] bits = new short[ROWS * WIDTH];
      for (int i = 0; i < bits.length; i++) {
        // A value of either type.
        float value = Math.round(16 * random.nextGaussian()) / 8f;
        x.floats().set(i, value);
        bits[i] =
            type == ElementType.FLOAT16
                ? Float.floatToFloat16(value)
                : (short) (Float.floatToRawIntBits(value) >>> Short.SIZE);
      }
      Norm norm = spec.builder(WIDTH).build();
      Rows gain = tape.learned("model.norm.weight").values.asRows(WIDTH);
      Rows rows = Rows.of(bits, type, WIDTH);
      if (norm instanceof LayerNorm) {
        norm.withParameters(gain, tape.learned("model.norm.bias").values.asRows(WIDTH))
            .apply(rows, rows);
      } else {
        norm.withParameters(gain, null).apply(rows, rows);
      }

      Matrix y = NormLayer.add(tape, spec, WIDTH, "model.norm", input, "y", false).values;
      tape.forward();
      for (int i = 0; i < bits.length; i++) {
        assertThat(Configs.element(y, i / WIDTH, i % WIDTH))
            .isEqualTo(value(Short.toUnsignedInt(bits[i]), type == ElementType.BFLOAT16));
      }
    }
  }
}
