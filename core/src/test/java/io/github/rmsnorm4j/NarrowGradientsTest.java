package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Gradients of narrow float32 rows, which have kernels of their own, have the bits of plain Java:
 * in every memory, with and without gain, residual and gradients of the parameters, over several
 * blocks of rows, with one out of range among them.
 */
class NarrowGradientsTest {
  private static final int ROWS = 75;

  private record Call(int width, int choice) {
    private boolean has(int bit) {
      return (choice >> bit & 1) != 0;
    }

    private Place place(int bit) {
      return has(bit) ? Place.NATIVE : Place.ARRAY;
    }

    private Norm norm(Backend backend) {
      return has(0)
          ? configure(LayerNorm.builder(width), backend).build()
          : configure(RmsNorm.builder(width), backend).build();
    }

    private <B extends NormBuilder<B>> B configure(B builder, Backend backend) {
      if (has(1)) {
        float[] gain = new float[width];
        for (int i = 0; i < width; i++) {
          gain[i] = 1 - i % 5 / 4f;
        }
        builder.gain(gain);
      }
      return builder.epsilon(0).backend(backend).threads(1);
    }

    /** dx, and the gradients of gain and bias after it. */
    private float[][] run(Arena arena, Backend backend) {
      Norm norm = norm(backend);
      Block x = filled(arena, place(2), 1);
      Block dy = filled(arena, place(3), 2);
      Block dx = new Block(arena, place(4), ElementType.FLOAT32, ROWS, width, width + 1L);
      Saved saved = new Saved(Keep.INPUT, ROWS);
      Block y = new Block(arena, Place.ARRAY, ElementType.FLOAT32, ROWS, width, width);
      norm.apply(x.rows, y.rows, saved);
      float[] dgain = new float[width];
      float[] dbias = new float[width];
      boolean bias = has(0) && has(6);
      ParameterGradients parameters =
          has(5) || bias
              ? ParameterGradients.assigned(has(5) ? dgain : null, bias ? dbias : null)
              : null;
      if (has(7)) {
        Block added = filled(arena, place(2), 3);
        norm.backward(dy.rows, saved, added.rows, dx.rows, parameters);
      } else {
        norm.backward(dy.rows, saved, dx.rows, parameters);
      }
      assertThat(dx.isGuardIntact()).as(toString()).isTrue();
      float[] all = new float[ROWS * width];
      for (int r = 0; r < ROWS; r++) {
        double[] row = dx.values(r);
        for (int i = 0; i < width; i++) {
          all[r * width + i] = (float) row[i];
        }
      }
      return new float[][] {all, dgain, dbias};
    }

    private Block filled(Arena arena, Place place, long seed) {
      RandomRows random = new RandomRows(new SplittableRandom(seed));
      Block block = new Block(arena, place, ElementType.FLOAT32, ROWS, width, width + 2L);
      for (int r = 0; r < ROWS; r++) {
        // One so small that its rstd is above float32's range.
        double size = r == 40 && seed == 1 ? 1e-41 : r + 1;
        block.put(r, random.scaled(ElementType.FLOAT32, width, size, 0.1 * size));
      }
      return block;
    }
  }

  @ParameterizedTest
  @CsvSource({"32,256", "64,256", "96,256", "256,256", "32,512", "64,512", "64,128"})
  void haveTheBitsOfPlainJava(int width, int bits) {
    for (int choice = 0; choice < 256; choice++) {
      if (Backends.isInTurn(width / 32, choice)) {
        check(new Call(width, choice), Backend.vector(bits));
      }
    }
  }

  private static void check(Call call, Backend backend) {
    try (Arena arena = Arena.ofShared()) {
      float[][] expected = call.run(arena, Backend.scalar());
      float[][] actual = call.run(arena, backend);
      for (int k = 0; k < expected.length; k++) {
        // Compares as Float.compare does: every bit but those of a NaN.
        assertThat(actual[k])
            .as("%s, %s", call, new String[] {"dx", "dgain", "dbias"}[k])
            .isEqualTo(expected[k]);
      }
    }
  }
}
