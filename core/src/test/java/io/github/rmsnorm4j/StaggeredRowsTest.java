package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Float32 rows that are summed while others are written have the contract's bits: every memory,
 * norm and residual, at the widths where that begins and ends, with rows out of range in the middle
 * and a chunk that is not whole at the end.
 */
class StaggeredRowsTest {
  private static final Place[] PLACES = {Place.NATIVE, Place.ARRAY};

  /** A norm of some rows, with a residual or without, and the contract's answer. */
  private record Rows(
      Variant is,
      boolean biased,
      double[] gain,
      double[][] x,
      ElementType residualType,
      double[][] residual,
      Contract.Result[] expected) {

    static Rows of(Variant is, boolean biased, double[] gain, double[][] x, double[][] residual) {
      return of(is, biased, gain, x, FLOAT32, residual);
    }

    static Rows of(
        Variant is,
        boolean biased,
        double[] gain,
        double[][] x,
        ElementType residualType,
        double[][] residual) {
      Contract.Result[] expected = new Contract.Result[x.length];
      Values g = gain == null ? null : new Values(FLOAT32, gain);
      // The gain is the bias as well.
      Values b = biased ? new Values(FLOAT32, parameter(is.width())) : null;
      for (int r = 0; r < x.length; r++) {
        Values added = residual == null ? null : new Values(residualType, residual[r]);
        expected[r] = Contract.row(is, new Values(FLOAT32, x[r]), added, g, b, FLOAT32);
      }
      return new Rows(is, biased, gain, x, residualType, residual, expected);
    }

    Norm norm(Backend backend, int threads) {
      Consumer<NormBuilder<?>> more =
          builder -> {
            builder.backend(backend).threads(threads);
            if (gain != null) {
              builder.gain(gain);
            }
            if (biased) {
              builder.bias(parameter(is.width()));
            }
          };
      return is.norm(more);
    }

    void check(Place in, Place out, boolean inPlace, Backend backend, int threads) {
      String what =
          "%s, bias %s, residual %s, from %s to %s%s, on %s, %d threads"
              .formatted(
                  is,
                  biased,
                  residual != null,
                  in,
                  out,
                  inPlace ? " in place" : "",
                  backend,
                  threads);
      int width = is.width();
      try (Arena arena = Arena.ofShared()) {
        Block from = new Operand(FLOAT32, in, 2, width, x).in(arena);
        Block to =
            inPlace ? from : new Operand(FLOAT32, out, 3, width, new double[x.length][0]).in(arena);
        Norm norm = norm(backend, threads);
        if (residual == null) {
          norm.apply(from.rows, to.rows);
        } else {
          Block sum = new Operand(residualType, in, 2, width, residual).in(arena);
          norm.addAndApply(from.rows, sum.rows, to.rows);
          for (int r = 0; r < x.length; r++) {
            same(what + ": sum", sum, r, expected[r].residual());
          }
        }
        for (int r = 0; r < x.length; r++) {
          same(what + ": y", to, r, expected[r].y());
        }
        assertThat(from.isGuardIntact() && to.isGuardIntact()).as(what).isTrue();
      }
    }

    private static void same(String what, Block actual, int row, double[] wanted) {
      int i = actual.mismatch(row, wanted);
      if (i >= 0) {
        throw new AssertionError(
            "%s of row %d, element %d is %s, the contract says %s"
                .formatted(what, row, i, actual.values(row)[i], wanted[i]));
      }
    }
  }

  private static double[] parameter(int width) {
    double[] values = new double[width];
    Arrays.setAll(values, i -> 1 - i % 5 / 4f);
    return values;
  }

  /** Chunks enough to begin, to begin anew, and one that is not whole. */
  private static Rows rows(int width, boolean centred, boolean residual) {
    int rows = 5 * Direction.FORWARD.chunk(width) + 1;
    Variant is = Variant.plain(centred, width, 0);
    double[][] added = residual ? rows(width, rows, 2) : null;
    return Rows.of(is, centred, parameter(width), rows(width, rows, 1), added);
  }

  private static double[][] rows(int width, int rows, long seed) {
    RandomRows random = new RandomRows(new SplittableRandom(seed));
    double[][] values = new double[rows][];
    for (int r = 0; r < rows; r++) {
      // So small that its rstd is above float32's range, or not finite.
      double size = r == rows / 2 ? 1e-41 : r == rows / 2 + 1 ? Double.NaN : r + 1;
      values[r] = random.scaled(FLOAT32, width, size, 0.1 * size);
    }
    return values;
  }

  @ParameterizedTest
  @CsvSource({
    "1024,128",
    "1025,128",
    "2055,128",
    "4096,128",
    "5003,128",
    "1024,256",
    "1025,256",
    "2055,256",
    "4096,256",
    "5003,256",
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
  void haveTheBitsOfTheContract(int width, int bits) {
    int call = width;
    for (int choice = 0; choice < 4; choice++) {
      Rows rows = rows(width, (choice & 1) != 0, (choice & 2) != 0);
      for (Place in : PLACES) {
        for (Place out : PLACES) {
          for (boolean inPlace : new boolean[] {false, true}) {
            if (Backends.isInTurn(0, call++)) {
              rows.check(in, out, inPlace, Backend.vector(bits), 1);
            }
          }
        }
      }
    }
  }

  /**
   * From 32 chunks on, the kernel that does two chunks at once does the first and the last one,
   * too.
   */
  @ParameterizedTest
  @CsvSource({"1024,128", "1024,256", "1025,512", "4096,512", "64,256", "64,512"})
  void manyChunksWithAResidual(int width, int bits) {
    double[][] x = rows(width, 33 * Direction.FORWARD.chunk(width) + 1, 3);
    double[][] residual = new double[x.length][width];
    for (int r = 0; r < x.length; r++) {
      for (int i = 0; i < width; i++) {
        residual[r][i] = (7 * i + r) % 128 - 64;
      }
    }
    for (ResidualRounding rounding : ResidualRounding.values()) {
      for (ElementType type : new ElementType[] {FLOAT32, ElementType.BFLOAT16}) {
        Variant is =
            new Variant(
                false, width, width, 1e-6, EpsilonPlacement.INSIDE, CastOrder.FLOAT32, 0, rounding);
        Rows rows = Rows.of(is, false, parameter(width), x, type, residual);
        rows.check(Place.NATIVE, Place.NATIVE, false, Backend.vector(bits), 1);
        rows.check(Place.ARRAY, Place.ARRAY, true, Backend.vector(bits), 1);
      }
    }
  }

  /** Every choice that the narrow kernel has beside memory, with zeros of both signs. */
  @ParameterizedTest
  @CsvSource({"32,256", "64,256", "96,256", "256,256", "32,512", "64,512"})
  void everyNarrowRmsNormHasTheBitsOfTheContract(int width, int bits) {
    SplittableRandom random = new SplittableRandom(width);
    double[][] x = new double[3 * Direction.FORWARD.chunk(width) + 1][width];
    for (int r = 0; r < x.length; r++) {
      float size = Math.scalb(1f, r % 90 - 45);
      for (int i = 0; i < width; i++) {
        int kind = (r * width + i) % 7;
        x[r][i] = kind == 0 ? 0.0 : kind == 3 ? -0.0 : size * (random.nextFloat() - 0.5f);
      }
    }
    for (EpsilonPlacement placement : EpsilonPlacement.values()) {
      for (int choice = 0; choice < 6; choice++) {
        boolean divides = (choice & 4) != 0;
        Variant is =
            new Variant(
                false,
                width,
                width,
                1e-6,
                placement,
                divides ? CastOrder.ONNX : CastOrder.FLOAT32,
                0,
                ResidualRounding.FIRST);
        double[] gain = (choice & 1) != 0 ? parameter(width) : null;
        Rows rows = Rows.of(is, (choice & 2) != 0, gain, x, null);
        rows.check(Place.ARRAY, Place.ARRAY, false, Backend.vector(bits), 1);
      }
    }
  }

  /** As wide as a super-block, and enough for threads to pay. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void theWidestToo(int threads) {
    for (int choice = 0; choice < 4; choice++) {
      Rows rows = rows(65_536, (choice & 1) != 0, (choice & 2) != 0);
      rows.check(Place.NATIVE, Place.NATIVE, false, Backend.best(), threads);
      rows.check(Place.ARRAY, Place.ARRAY, false, Backend.best(), threads);
    }
  }
}
