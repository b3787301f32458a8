package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every backend and any number of threads gives the backward contract's bits. */
class GradientBitsTest {
  private static final int TWO_PASSES = (1 << 20) + 33;
  private static final int CASES_OF_MANY_ROWS = 10;
  private static final int[] THREADS = {2, 3, 7};

  /** Elements of a call for which two threads pay, and of one that pays for six. */
  private static final int TWO_PAY = 1 << 18;

  private static final int SIX_PAY = 1 << 19;

  /** The cross product of everything a call can be, stratum by stratum. */
  @Test
  void anyBackwardCallOnEveryBackend() {
    Coverage coverage = new Coverage(Direction.BACKWARD);
    Recipe.drawn(Direction.BACKWARD).parallelStream()
        .forEach(
            recipe -> {
              Case drawn = Case.of(recipe);
              coverage.add(recipe.seed(), drawn);
              check(drawn, recipe.seed(), recipe.threads());
            });
    assertThat(coverage.missing()).isEmpty();
  }

  /** Rows enough for several blocks, sub-trees of one block and of many, and threads to pay. */
  @Test
  void anyBackwardCallOnSeveralThreads() {
    for (long seed = 0; seed < CASES_OF_MANY_ROWS; seed++) {
      SplittableRandom random = new SplittableRandom(~seed);
      int width = random.nextBoolean() ? random.nextInt(3, 70) : random.nextInt(70, 2100);
      int elements = random.nextInt(TWO_PAY, SIX_PAY);
      Case drawn = drawn(seed, elements / width, width);
      int threads = THREADS[(int) seed % THREADS.length];
      // Plain Java and the widest vectors, or by default one of the two.
      if (Backends.ALL_DRAWS || seed % 2 == 0) {
        drawn.check(Backend.scalar(), threads);
      }
      if (Backends.ALL_DRAWS || seed % 2 != 0) {
        drawn.check(Backends.VECTORS, threads);
      }
    }
  }

  /** Blocks of 32 rows, and as many as there are sub-trees at most, and one more. */
  @ParameterizedTest
  @ValueSource(ints = {31, 32, 33, 64 * 32, 64 * 32 + 1, 64 * 32 + 33})
  void numbersOfRowsThatFillBlocks(int rows) {
    Case drawn = drawn(rows, rows, 300);
    for (int threads : new int[] {1, 2, 8}) {
      drawn.check(Backends.VECTORS, threads);
    }
  }

  /** These have vector kernels of their own. */
  @ParameterizedTest
  @CsvSource({"32,256", "64,256", "96,256", "256,256", "32,512", "64,512", "64,128"})
  void narrowRows(int width, int bits) {
    assumeTrue(Backends.HAS_JAVA_KERNELS, "no kernels of vectors");
    for (int call = 0; call < (Backends.ALL_DRAWS ? 192 : 64); call++) {
      boolean heap = (call & 16) != 0;
      boolean centred = (call & 32) != 0;
      Shape shape =
          new Shape(Direction.BACKWARD, ElementType.FLOAT32, heap, centred, true, 75, width);
      Case.of(call, shape, Mix.LONE, call % Recipe.CHOICES).check(Backend.vector(bits), 1);
    }
  }

  /** Arrays for sums are kept from call to call, and each is one call's at a time. */
  @Test
  void callsAtTheSameTimeChangeNothing() {
    int[] widths = {60, 64, 100, 257};
    List<Integer> wrong =
        IntStream.range(0, 200)
            .parallel()
            .filter(k -> !isAlone(widths[k % widths.length], 40 + k % 7 * 30))
            .boxed()
            .toList();
    assertThat(wrong).isEmpty();
  }

  /** Whether dbias is the number of rows and dgain a sum of as many ones. */
  private static boolean isAlone(int width, int rows) {
    float[] x = new float[rows * width];
    Arrays.fill(x, 1f);
    RmsNorm norm = RmsNorm.builder(width).epsilon(0).threads(2).build();
    Saved saved = new Saved(Keep.INPUT, rows);
    Rows in = Rows.of(x, width);
    norm.apply(in, Rows.of(new float[rows * width], width), saved);
    float[] expected = new float[width];
    Arrays.fill(expected, rows);
    boolean right = true;
    for (int i = 0; i < 50; i++) {
      float[] dgain = new float[width];
      float[] dbias = new float[width];
      ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
      norm.backward(in, saved, Rows.of(new float[rows * width], width), gradients);
      right &= Arrays.equals(dgain, expected) && Arrays.equals(dbias, expected);
    }
    return right;
  }

  /** About as long as a super-block, and longer than three. */
  @ParameterizedTest
  @ValueSource(ints = {65535, 65536, 65537, 200003})
  void longRows(int width) {
    for (long seed = 0; seed < 2; seed++) {
      check(drawn(width + seed, 2, width), width + seed, 2);
    }
  }

  /** Of so long rows LayerNorm has a pass more, which it repeats where nothing was kept. */
  @ParameterizedTest
  @EnumSource
  void anyLayerNormInTwoPasses(ElementType type) {
    Shape shape = new Shape(Direction.BACKWARD, type, false, true, true, 1, TWO_PASSES);
    Case drawn = Case.of(type.ordinal(), shape);
    drawn.check(Backends.VECTORS, 1);
    if (Backends.ALL_DRAWS || type.ordinal() % 2 == 0) {
      drawn.check(Backend.scalar(), 1);
    }
  }

  private static Case drawn(long seed, int rows, int width) {
    ElementType type = ElementType.values()[(int) seed % 4];
    return Case.of(Direction.BACKWARD, seed, rows, width, type);
  }

  private static void check(Case drawn, long seed, int threads) {
    for (Backend backend : Backends.inTurn(Backends.of(drawn.shape().elements()), seed)) {
      drawn.check(backend, threads);
    }
  }
}
