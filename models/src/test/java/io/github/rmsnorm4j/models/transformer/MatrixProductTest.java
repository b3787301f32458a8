package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Either way to multiply gives the product that is meant. */
class MatrixProductTest {
  private static final long SEED = 11;

  @AfterEach
  void oneThread() {
    MatrixProduct.useThreads(1);
  }

  @ParameterizedTest
  @CsvSource({
    "OPENBLAS, false, false",
    "OPENBLAS, false, true",
    "OPENBLAS, true, false",
    "OPENBLAS, true, true",
    "PLAIN_JAVA, false, false",
    "PLAIN_JAVA, false, true",
    "PLAIN_JAVA, true, false",
    "PLAIN_JAVA, true, true"
  })
  void blocksOfMatricesEitherTransposedOrNot(
      MatrixProduct product, boolean transposeA, boolean transposeB) {
    int m = 5;
    int n = 7;
    int k = 3;
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = random(arena, 1).block(2, 1, transposeA ? k : m, transposeA ? m : k);
      Matrix b = random(arena, 2).block(1, 3, transposeB ? n : k, transposeB ? k : n);
      Matrix all = random(arena, 3);
      Matrix before = random(arena, 3);
      Matrix c = all.block(3, 2, m, n);
      product.multiply(a, transposeA, b, transposeB, 0.5f, 2, c);
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

  /** Large enough that two threads do share it. */
  @ParameterizedTest
  @CsvSource({"1", "2"})
  void theSameNumberOfThreadsGivesTheSameBits(int threads) {
    MatrixProduct.useThreads(threads);
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = Matrix.allocate(arena, 150, 200);
      Matrix b = Matrix.allocate(arena, 200, 170);
      fill(a, 1);
      fill(b, 2);
      Matrix first = Matrix.allocate(arena, 150, 170);
      MatrixProduct.OPENBLAS.multiply(a, false, b, false, 1, 0, first);
      for (int i = 0; i < 5; i++) {
        Matrix again = Matrix.allocate(arena, 150, 170);
        MatrixProduct.OPENBLAS.multiply(a, false, b, false, 1, 0, again);
        assertThat(again.segment.mismatch(first.segment)).isEqualTo(-1);
      }
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

  @ParameterizedTest
  @EnumSource
  void withoutBetaWhatIsThereDoesNotCount(MatrixProduct product) {
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = Matrix.allocate(arena, 2, 3);
      Matrix c = Matrix.allocate(arena, 2, 2);
      fill(a, 1);
      new Floats(c.segment).set(1, Float.NaN);
      product.multiply(a, false, a, true, 1, 0, c);
      assertThat(Configs.element(c, 0, 1)).isEqualTo(Configs.element(c, 1, 0)).isFinite();
    }
  }

  @ParameterizedTest
  @EnumSource
  void shapesThatDoNotFitAreRefused(MatrixProduct product) {
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = Matrix.allocate(arena, 2, 3);
      Matrix b = Matrix.allocate(arena, 3, 4);
      Matrix c = Matrix.allocate(arena, 2, 4);
      assertThatThrownBy(() -> product.multiply(a, true, b, false, 1, 0, c))
          .hasMessage("the product of 2 x 3 and 3 x 4, either transposed or not, is not 2 x 4");
      assertThatThrownBy(() -> product.multiply(a, false, b, true, 1, 0, c))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> product.multiply(a, false, b, false, 1, 0, b))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> a.block(1, 0, 2, 3)).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void threadsAreAtLeastOne() {
    assertThatThrownBy(() -> MatrixProduct.useThreads(0))
        .hasMessage("threads is 0, it must be at least 1");
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
