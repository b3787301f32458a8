package io.github.rmsnorm4j.studies.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import io.github.rmsnorm4j.models.transformer.Arithmetic;
import io.github.rmsnorm4j.models.transformer.Matrix;
import io.github.rmsnorm4j.models.transformer.MatrixProduct;
import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.ModelConfig;
import io.github.rmsnorm4j.models.transformer.Parameter;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** OpenBLAS gives the product that is meant, and models the numbers that plain Java gives them. */
@Isolated // A process has one number of OpenBLAS threads.
class OpenBlasTest {
  private static final long SEED = 11;
  private static final int ROWS = 12;
  private static final int COLUMNS = 13;

  private final MatrixProduct product = OpenBlas.ARITHMETIC.product();

  @AfterEach
  void oneThread() {
    OpenBlas.useThreads(1);
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void blocksOfMatricesEitherTransposedOrNot(boolean transposeA, boolean transposeB) {
    int m = 5;
    int n = 7;
    int k = 3;
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = block(random(arena, 1), 2, 1, transposeA ? k : m, transposeA ? m : k);
      Matrix b = block(random(arena, 2), 1, 3, transposeB ? n : k, transposeB ? k : n);
      Matrix all = random(arena, 3);
      Matrix before = random(arena, 3);
      Matrix c = block(all, 3, 2, m, n);
      product.multiply(a, transposeA, b, transposeB, 0.5f, 2, c);
      for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
          double expected = element(before, i, j);
          boolean inside = i >= 3 && i < 3 + m && j >= 2 && j < 2 + n;
          expected *= inside ? 2 : 1;
          for (int l = 0; inside && l < k; l++) {
            double x = transposeA ? element(a, l, i - 3) : element(a, i - 3, l);
            double y = transposeB ? element(b, j - 2, l) : element(b, l, j - 2);
            expected += 0.5 * x * y;
          }
          assertThat((double) element(all, i, j))
              .as("%d, %d", i, j)
              .isCloseTo(expected, within(1e-5));
        }
      }
    }
  }

  private static Matrix block(Matrix of, int row, int column, int rows, int columns) {
    long first = ((long) row * of.stride + column) * Float.BYTES;
    return Matrix.of(of.segment.asSlice(first), rows, columns, of.stride);
  }

  private static float element(Matrix matrix, int row, int column) {
    return matrix.segment.getAtIndex(ValueLayout.JAVA_FLOAT, (long) row * matrix.stride + column);
  }

  private static Matrix random(Arena arena, int stream) {
    return random(arena, stream, ROWS, COLUMNS);
  }

  private static Matrix random(Arena arena, int stream, int rows, int columns) {
    Matrix matrix = zeros(arena, rows, columns);
    SeededRandom random = new SeededRandom(SEED, stream);
    Floats values = new Floats(matrix.segment);
    for (long i = 0; i < (long) rows * columns; i++) {
      values.set(i, (float) random.nextGaussian());
    }
    return matrix;
  }

  private static Matrix zeros(Arena arena, int rows, int columns) {
    MemorySegment memory = arena.allocate(ValueLayout.JAVA_FLOAT, (long) rows * columns);
    return Matrix.of(memory, rows, columns, columns);
  }

  /** Large enough that two threads do share it. */
  @ParameterizedTest
  @CsvSource({"1", "2"})
  void theSameNumberOfThreadsGivesTheSameBits(int threads) {
    OpenBlas.useThreads(threads);
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = random(arena, 1, 150, 200);
      Matrix b = random(arena, 2, 200, 170);
      Matrix first = zeros(arena, 150, 170);
      product.multiply(a, false, b, false, 1, 0, first);
      for (int i = 0; i < 5; i++) {
        Matrix again = zeros(arena, 150, 170);
        product.multiply(a, false, b, false, 1, 0, again);
        assertThat(again.segment.mismatch(first.segment)).isEqualTo(-1);
      }
    }
  }

  @Test
  void withoutBetaWhatIsThereDoesNotCount() {
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = random(arena, 1, 2, 3);
      Matrix c = zeros(arena, 2, 2);
      c.segment.setAtIndex(ValueLayout.JAVA_FLOAT, 1, Float.NaN);
      product.multiply(a, false, a, true, 1, 0, c);
      assertThat(element(c, 0, 1)).isEqualTo(element(c, 1, 0)).isFinite();
    }
  }

  @Test
  void shapesThatDoNotFitAreRefused() {
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = zeros(arena, 2, 3);
      Matrix b = zeros(arena, 3, 4);
      Matrix c = zeros(arena, 2, 4);
      assertThatThrownBy(() -> product.multiply(a, true, b, false, 1, 0, c))
          .hasMessage("the product of 2 x 3 and 3 x 4, either transposed or not, is not 2 x 4");
      assertThatThrownBy(() -> product.multiply(a, false, b, true, 1, 0, c))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> product.multiply(a, false, b, false, 1, 0, b))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void memoryThatHasBeenGivenBackIsRefused() {
    Matrix a;
    try (Arena arena = Arena.ofConfined()) {
      a = zeros(arena, 2, 2);
    }
    assertThatThrownBy(() -> product.multiply(a, false, a, false, 1, 0, a))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("Already closed");
  }

  @Test
  void threadsAreAtLeastOne() {
    assertThatThrownBy(() -> OpenBlas.useThreads(0))
        .hasMessage("threads is 0, it must be at least 1");
  }

  /** Forward and backward, in one pass; forward, token by token. */
  @Test
  void aModelsNumbersAreCloseToThoseOfPlainJava() {
    ModelConfig config =
        ModelConfig.of(
            11,
            12,
            2,
            4,
            o -> {
              o.norm = NormSpec.LAYERNORM;
              o.headWidth = 4;
              o.keyValueHeads = 2;
              o.initialRange = 0.3;
            });
    int[] tokens = {3, 1, 4, 1, 5, 9};
    int[] targets = {1, 4, -1, 5, 9, 2};
    try (Weights weights = new Weights(config).initialise(SEED)) {
      List<float[]> plain = numbers(weights, tokens, targets, Arithmetic.PLAIN);
      List<float[]> other = numbers(weights, tokens, targets, OpenBlas.ARITHMETIC);
      assertThat(other).hasSameSizeAs(plain);
      for (int i = 0; i < plain.size(); i++) {
        assertThat(other.get(i)).as("%s", i).containsExactly(plain.get(i), within(1e-4f));
      }
    }
  }

  private static List<float[]> numbers(
      Weights weights, int[] tokens, int[] targets, Arithmetic arithmetic) {
    List<float[]> numbers = new ArrayList<>();
    weights.zeroGradients();
    try (Model model = new Model(weights, 1, tokens.length, 1, arithmetic);
        Model continuing = Model.continuing(weights, tokens.length, arithmetic)) {
      model.forward(tokens);
      numbers.add(model.logits().toArray(ValueLayout.JAVA_FLOAT));
      model.loss(targets);
      model.backward();
      for (Parameter parameter : weights.parameters()) {
        numbers.add(weights.gradient(parameter).toArray(ValueLayout.JAVA_FLOAT));
      }
      for (int token : tokens) {
        continuing.forward(new int[] {token});
        numbers.add(continuing.logits().toArray(ValueLayout.JAVA_FLOAT));
      }
    }
    return numbers;
  }
}
