package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Plain Java gives the product that is meant, to the bit. */
class MatrixProductTest {
  private static final long SEED = 11;

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void blocksOfMatricesEitherTransposedOrNot(boolean transposeA, boolean transposeB) {
    int m = 5;
    int n = 7;
    int k = 3;
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = random(arena, 1).block(2, 1, transposeA ? k : m, transposeA ? m : k);
      Matrix b = random(arena, 2).block(1, 3, transposeB ? n : k, transposeB ? k : n);
      Matrix all = random(arena, 3);
      Matrix before = random(arena, 3);
      Matrix c = all.block(3, 2, m, n);
      MatrixProduct.PLAIN_JAVA.multiply(a, transposeA, b, transposeB, 0.5f, 2, c);
      for (int i = 0; i < all.rows; i++) {
        for (int j = 0; j < all.columns; j++) {
          double expected = Configs.element(before, i, j);
          boolean inside = i >= 3 && i < 3 + m && j >= 2 && j < 2 + n;
          expected *= inside ? 2 : 1;
          for (int l = 0; inside && l < k; l++) {
            double x = transposeA ? Configs.element(a, l, i - 3) : Configs.element(a, i - 3, l);
            double y = transposeB ? Configs.element(b, j - 2, l) : Configs.element(b, l, j - 2);
            expected += 0.5 * x * y;
          }
          assertThat((double) Configs.element(all, i, j))
              .as("%d, %d", i, j)
              .isCloseTo(expected, within(1e-5));
        }
      }
    }
  }

  private static Matrix random(Arena arena, int stream) {
    Matrix matrix = Matrix.allocate(arena, 12, 13);
    fill(matrix, stream);
    return matrix;
  }

  private static void fill(Matrix matrix, int stream) {
    SeededRandom random = new SeededRandom(SEED, stream);
    Floats values = new Floats(matrix.segment);
    for (long i = 0; i < matrix.elements(); i++) {
      values.set(i, (float) random.nextGaussian());
    }
  }

  /** One float32 sum in the order of the inner index, whatever else is in the product. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void plainJavaHasTheBitsOfALoop(boolean transposeB) {
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = Matrix.allocate(arena, 9, 33);
      Matrix b = transposeB ? Matrix.allocate(arena, 7, 33) : Matrix.allocate(arena, 33, 7);
      fill(a, 1);
      fill(b, 2);
      Matrix all = Matrix.allocate(arena, 9, 7);
      MatrixProduct.PLAIN_JAVA.multiply(a, false, b, transposeB, 0.3f, 0, all);
      Matrix alone = Matrix.allocate(arena, 1, 7);
      for (int i = 0; i < 9; i++) {
        MatrixProduct.PLAIN_JAVA.multiply(
            a.block(i, 0, 1, 33), false, b, transposeB, 0.3f, 0, alone);
        for (int j = 0; j < 7; j++) {
          float sum = 0;
          for (int k = 0; k < 33; k++) {
            sum +=
                Configs.element(a, i, k)
                    * (transposeB ? Configs.element(b, j, k) : Configs.element(b, k, j));
          }
          assertThat(Configs.element(all, i, j)).isEqualTo(0.3f * sum);
          assertThat(Configs.element(alone, 0, j)).isEqualTo(0.3f * sum);
        }
      }
    }
  }

  @Test
  void withoutBetaWhatIsThereDoesNotCount() {
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = Matrix.allocate(arena, 2, 3);
      Matrix c = Matrix.allocate(arena, 2, 2);
      fill(a, 1);
      new Floats(c.segment).set(1, Float.NaN);
      MatrixProduct.PLAIN_JAVA.multiply(a, false, a, true, 1, 0, c);
      assertThat(Configs.element(c, 0, 1)).isEqualTo(Configs.element(c, 1, 0)).isFinite();
    }
  }

  @Test
  void shapesThatDoNotFitAreRefused() {
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = Matrix.allocate(arena, 2, 3);
      Matrix b = Matrix.allocate(arena, 3, 4);
      Matrix c = Matrix.allocate(arena, 2, 4);
      assertThatThrownBy(() -> MatrixProduct.PLAIN_JAVA.multiply(a, true, b, false, 1, 0, c))
          .hasMessage("the product of 2 x 3 and 3 x 4, either transposed or not, is not 2 x 4");
      assertThatThrownBy(() -> MatrixProduct.PLAIN_JAVA.multiply(a, false, b, true, 1, 0, c))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> MatrixProduct.PLAIN_JAVA.multiply(a, false, b, false, 1, 0, b))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> a.block(1, 0, 2, 3)).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void memoryThatIsNoMatrixIsRefused() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(ValueLayout.JAVA_FLOAT, 11);
      assertThat(Matrix.of(memory, 3, 3, 4).segment.byteSize()).isEqualTo(44);
      assertThatThrownBy(() -> Matrix.of(memory, 3, 4, 4))
          .hasMessageEndingWith("it must have 48 bytes or more");
      assertThatThrownBy(() -> Matrix.of(memory, 3, 4, 3))
          .hasMessage("stride is 3, it must be between 4 and 2147483647");
      assertThatThrownBy(() -> Matrix.of(memory, 0, 4, 4)).hasMessageStartingWith("rows is 0");
      assertThatThrownBy(() -> Matrix.of(memory, 1, 0, 4)).hasMessageStartingWith("columns is 0");
      assertThatThrownBy(() -> Matrix.of(memory.asSlice(1), 1, 1, 1))
          .hasMessageEndingWith("it must be native memory, aligned for float32");
      assertThatThrownBy(() -> Matrix.of(MemorySegment.ofArray(new float[4]), 1, 1, 1))
          .hasMessageEndingWith("it must be native memory, aligned for float32");
      assertThatThrownBy(() -> new Floats(MemorySegment.ofArray(new float[4])))
          .hasMessageStartingWith("not whole floats in native memory");
      assertThatThrownBy(() -> new Floats(memory.asSlice(1)))
          .hasMessageStartingWith("not whole floats in native memory");
    }
  }

  /** More elements than are copied at a time, and the last piece is smaller. */
  @Test
  void aLargeMatrixIsCopiedInPiecesThatChangeNoBit() {
    int inner = 700;
    int outputs = (1 << 22) / inner * 2 + 5;
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = Matrix.allocate(arena, 2, inner);
      Matrix b = Matrix.allocate(arena, outputs, inner);
      SeededRandom random = new SeededRandom(SEED, 4);
      for (Matrix matrix : new Matrix[] {a, b}) {
        Floats values = matrix.floats();
        for (long i = 0; i < matrix.elements(); i++) {
          values.set(i, (float) random.nextGaussian());
        }
      }
      Matrix c = Matrix.allocate(arena, 2, outputs);
      c.floats().set(outputs - 1, 3);
      MatrixProduct.PLAIN_JAVA.multiply(a, false, b, true, 2, 1, c);
      Matrix one = Matrix.allocate(arena, 1, 1);
      for (int j = 0; j < outputs; j++) {
        for (int i = 0; i < 2; i++) {
          Matrix row = a.block(i, 0, 1, inner);
          one.floats().set(0, i == 0 && j == outputs - 1 ? 3 : 0);
          MatrixProduct.PLAIN_JAVA.multiply(row, false, b.block(j, 0, 1, inner), true, 2, 1, one);
          assertThat(Configs.element(c, i, j)).isEqualTo(Configs.element(one, 0, 0));
        }
      }
    }
  }
}
