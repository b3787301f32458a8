package io.github.rmsnorm4j.models.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sums over pieces equal those of one call of the library, and the pieces are what they may be. */
class GradientSumTest {
  private static final int WIDTH = 37;
  private static final int MOST_ROWS = 1100;
  private static final long SEED = 20;

  @Test
  void aPieceIsOneRowOrAPowerOfTwoOfBlocks() {
    assertThat(List.of(0L, 1L, 31L, 32L, 63L, 64L, 100L, 1L << 40).stream())
        .extracting(GradientSum::pieceRows)
        .containsExactly(1L, 1L, 1L, 32L, 32L, 64L, 64L, 1L << 40);
  }

  @Test
  void withoutRowsItIsZero() {
    assertThat(new GradientSum(3, false, 32).total()).containsExactly(0, 0, 0);
  }

  @ParameterizedTest
  @EnumSource
  void piecesGiveTheBitsOfOneCall(ElementType type) {
    Random random = new Random(SEED);
    Rows x = random(type, 0.5, 1, MOST_ROWS);
    Rows dy = random(type, 0.1, 2, MOST_ROWS);
    Norm rms = RmsNorm.builder(WIDTH).build();
    Norm layer = LayerNorm.builder(WIDTH).build();
    IntStream some = IntStream.generate(() -> 1 + random.nextInt(MOST_ROWS)).limit(2);
    for (int rows : IntStream.concat(IntStream.of(1, 31, 32, 33, 65, 1024), some).toArray()) {
      for (Norm norm : List.of(rms, layer)) {
        double[][] whole = whole(norm, x, dy, rows);
        for (long room : new long[] {1, 32, 64, 128, 512, 4096}) {
          assertThat(pieces(norm, x, dy, rows, GradientSum.pieceRows(room)))
              .as("seed %d, %s, %d rows with room for %d", SEED, norm, rows, room)
              .isDeepEqualTo(whole);
        }
      }
    }
  }

  /** Or the test above would pass with any order. */
  @Test
  void theOrderOfAdditionCanBeSeen() {
    Rows x = random(ElementType.FLOAT32, 0.5, 1, 300);
    Rows dy = random(ElementType.FLOAT32, 0.1, 2, 300);
    Norm norm = RmsNorm.builder(WIDTH).build();
    double[] added = new double[WIDTH];
    for (int from = 0; from < 300; from += 32) {
      double[] piece = part(norm, x, dy, from, Math.min(300, from + 32))[0];
      Arrays.setAll(added, i -> (float) (added[i] + piece[i]));
    }
    assertThat(added).isNotEqualTo(whole(norm, x, dy, 300)[0]);
  }

  private static double[][] whole(Norm norm, Rows x, Rows dy, int rows) {
    if (isFloat64(x)) {
      return part(norm, x, dy, 0, rows);
    }
    // As floats, which is how the library adds up here.
    float[] gain = new float[WIDTH];
    float[] bias = new float[WIDTH];
    backward(norm, x, dy, 0, rows, ParameterGradients.assigned(gain, bias));
    return new double[][] {
      IntStream.range(0, WIDTH).mapToDouble(i -> gain[i]).toArray(),
      IntStream.range(0, WIDTH).mapToDouble(i -> bias[i]).toArray()
    };
  }

  private static double[][] pieces(Norm norm, Rows x, Rows dy, int rows, long pieceRows) {
    GradientSum gain = new GradientSum(WIDTH, isFloat64(x), pieceRows);
    GradientSum bias = new GradientSum(WIDTH, isFloat64(x), pieceRows);
    for (long from = 0; from < rows; from += pieceRows) {
      int to = (int) Math.min(rows, from + pieceRows);
      double[] ofGain = gain.open();
      double[] ofBias = bias.open();
      backward(norm, x, dy, (int) from, to, ParameterGradients.assigned(ofGain, ofBias));
      gain.add(ofGain);
      bias.add(ofBias);
    }
    return new double[][] {gain.total(), bias.total()};
  }

  private static double[][] part(Norm norm, Rows x, Rows dy, int from, int to) {
    double[][] gradients = new double[2][WIDTH];
    backward(norm, x, dy, from, to, ParameterGradients.assigned(gradients[0], gradients[1]));
    return gradients;
  }

  private static void backward(
      Norm norm, Rows x, Rows dy, int from, int to, ParameterGradients gradients) {
    Rows dx = copy(rows(x, from, to));
    Saved saved = new Saved(Keep.INPUT, to - from);
    norm.apply(rows(x, from, to), dx, saved);
    norm.backward(rows(dy, from, to), saved, dx, gradients);
  }

  private static Rows rows(Rows all, int from, int to) {
    int rowBytes = WIDTH * all.type().bytes();
    MemorySegment part =
        all.segment().asSlice((long) from * rowBytes, (long) (to - from) * rowBytes);
    return Rows.of(part, all.type(), to - from, WIDTH);
  }

  private static Rows random(ElementType type, double mean, long seed, int rows) {
    Random random = new Random(seed);
    Rows all =
        Rows.of(MemorySegment.ofArray(new byte[rows * WIDTH * type.bytes()]), type, rows, WIDTH);
    for (long i = 0; i < (long) rows * WIDTH; i++) {
      type.set(all.segment(), i, mean + random.nextGaussian());
    }
    return all;
  }

  private static Rows copy(Rows rows) {
    byte[] bytes = rows.segment().toArray(ValueLayout.JAVA_BYTE);
    return Rows.of(MemorySegment.ofArray(bytes), rows.type(), (int) rows.rows(), WIDTH);
  }

  private static boolean isFloat64(Rows all) {
    return all.type() == ElementType.FLOAT64;
  }
}
