package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Float32 rows that are summed while others are written have the bits of plain Java: every memory,
 * norm and residual, at the widths where that begins and ends, with a row out of range in the
 * middle and a chunk that is not whole at the end.
 */
class StaggeredRowsTest {
  private static final Place[] PLACES = {Place.NATIVE, Place.ARRAY};

  /** What a call wrote: y, and the sum where there is a residual. */
  private record Written(Block y, Block sum) {}

  private record Call(
      int width, boolean centred, boolean residual, boolean inPlace, Place in, Place out) {
    /** Chunks enough to begin, to begin anew, and one that is not whole. */
    int rows() {
      return 5 * Math.max(1, 4096 / width) + 1;
    }

    Norm norm(Backend backend, int threads) {
      float[] gain = new float[width];
      for (int i = 0; i < width; i++) {
        gain[i] = 1 - i % 5 / 4f;
      }
      return centred
          ? configure(LayerNorm.builder(width).bias(gain), gain, backend, threads).build()
          : configure(RmsNorm.builder(width), gain, backend, threads).build();
    }

    private static <B extends Norm.Builder<B>> B configure(
        B builder, float[] gain, Backend backend, int threads) {
      return builder.gain(gain).epsilon(0).backend(backend).threads(threads);
    }

    Written run(Arena arena, Norm norm) {
      Block x = filled(arena, in, 1);
      Block y = inPlace ? x : new Block(arena, out, ElementType.FLOAT32, rows(), width, width + 3L);
      if (!residual) {
        norm.apply(x.rows, y.rows);
        return new Written(y, y);
      }
      Block sum = filled(arena, in, 2);
      norm.addAndApply(x.rows, sum.rows, y.rows);
      return new Written(y, sum);
    }

    private Block filled(Arena arena, Place place, long seed) {
      RandomRows random = new RandomRows(new SplittableRandom(seed));
      Block block = new Block(arena, place, ElementType.FLOAT32, rows(), width, width + 2L);
      for (int r = 0; r < rows(); r++) {
        // So small that its rstd is above float32's range, or not finite.
        double size = r == rows() / 2 ? 1e-41 : r == rows() / 2 + 1 ? Double.NaN : r + 1;
        block.put(r, random.scaled(ElementType.FLOAT32, width, size, 0.1 * size));
      }
      return block;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1024,128",
    "1025,128",
    "2055,128",
    "4096,128",
    "5003,128",
    "65536,128",
    "1024,256",
    "1025,256",
    "2055,256",
    "4096,256",
    "5003,256",
    "65536,256",
    "1024,512",
    "1025,512",
    "2055,512",
    "32,256",
    "64,256",
    "96,256",
    "128,256",
    "256,256",
    "32,512",
    "64,512",
    "256,512"
  })
  void haveTheBitsOfPlainJava(int width, int bits) {
    for (int choice = 0; choice < 32; choice++) {
      Place in = PLACES[choice & 1];
      Place out = PLACES[choice >> 1 & 1];
      boolean centred = (choice & 4) != 0;
      boolean residual = (choice & 8) != 0;
      boolean inPlace = (choice & 16) != 0;
      check(new Call(width, centred, residual, inPlace, in, out), Backend.vector(bits), 1);
    }
  }

  /** Every choice that the narrow kernel has beside memory, with zeros of both signs. */
  @ParameterizedTest
  @CsvSource({"32,256", "64,256", "96,256", "256,256", "32,512", "64,512"})
  void everyNarrowRmsNormHasTheBitsOfPlainJava(int width, int bits) {
    int rows = 3 * Math.min(64, 4096 / width) + 1;
    SplittableRandom random = new SplittableRandom(width);
    float[] x = new float[rows * width];
    for (int i = 0; i < x.length; i++) {
      float size = Math.scalb(1f, i / width % 90 - 45);
      x[i] = i % 7 == 0 ? 0f : i % 7 == 3 ? -0f : size * (random.nextFloat() - 0.5f);
    }
    for (EpsilonPlacement placement : EpsilonPlacement.values()) {
      for (int choice = 0; choice < 6; choice++) {
        boolean gain = (choice & 1) != 0;
        boolean bias = (choice & 2) != 0;
        boolean divides = (choice & 4) != 0;
        float[] expected = new float[x.length];
        float[] actual = new float[x.length];
        rmsNorm(width, placement, gain, bias, divides, Backend.scalar()).apply(x, expected);
        rmsNorm(width, placement, gain, bias, divides, Backend.vector(bits)).apply(x, actual);
        // Arrays are compared by bits, but for those of a NaN.
        assertThat(actual)
            .as("%s, gain %s, bias %s, divides %s", placement, gain, bias, divides)
            .isEqualTo(expected);
      }
    }
  }

  private static RmsNorm rmsNorm(
      int width,
      EpsilonPlacement placement,
      boolean gain,
      boolean bias,
      boolean divides,
      Backend backend) {
    RmsNorm.Builder builder = RmsNorm.builder(width).epsilon(1e-6).epsilonPlacement(placement);
    float[] parameter = new float[width];
    for (int i = 0; i < width; i++) {
      parameter[i] = 1 - i % 5 / 2f;
    }
    if (gain) {
      builder.gain(parameter);
    }
    if (bias) {
      builder.bias(parameter);
    }
    return builder
        .castOrder(divides ? CastOrder.ONNX : CastOrder.FLOAT32)
        .threads(1)
        .backend(backend)
        .build();
  }

  @ParameterizedTest
  @CsvSource({"false,false", "false,true", "true,false", "true,true"})
  void onSeveralThreadsToo(boolean centred, boolean residual) {
    Call call = new Call(65_536, centred, residual, false, Place.NATIVE, Place.NATIVE);
    check(call, Backend.best(), 3);
  }

  private static void check(Call call, Backend backend, int threads) {
    try (Arena arena = Arena.ofShared()) {
      Written expected = call.run(arena, call.norm(Backend.scalar(), 1));
      Written actual = call.run(arena, call.norm(backend, threads));
      assertSame(call + " y", actual.y, expected.y);
      assertSame(call + " sum", actual.sum, expected.sum);
    }
  }

  private static void assertSame(String what, Block actual, Block expected) {
    assertThat(actual.isGuardIntact()).as(what).isTrue();
    for (int r = 0; r < actual.rows.rows(); r++) {
      for (int i = 0; i < actual.rows.width(); i++) {
        // As objects, since the doubles 0 and -0 are equal.
        if (actual.bits(r, i) != expected.bits(r, i)) {
          assertThat((Double) actual.value(r, i))
              .as("%s, row %d, element %d", what, r, i)
              .isEqualTo((Double) expected.value(r, i));
        }
      }
    }
  }
}
