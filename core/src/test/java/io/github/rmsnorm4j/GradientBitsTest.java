package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every backend and any number of threads gives the backward contract's bits. */
class GradientBitsTest {
  private static final int CASES = 500;
  private static final int EMULATED_ELEMENTS = 3000;
  private static final int[] WIDTHS = {1, 2, 31, 32, 33, 64, 100, 257, 1000, 1024, 1025, 4097};

  @Test
  void anyBackwardCallOnEveryBackend() {
    for (long seed = 0; seed < CASES; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int width = WIDTHS[random.nextInt(WIDTHS.length)];
      int rows = random.nextInt(1, Math.clamp(9000 / width, 2, 140));
      check(new Drawn(seed, random, rows, width), 1);
    }
  }

  /** Enough rows for several sub-trees, and enough of each for threads to pay. */
  @ParameterizedTest
  @ValueSource(ints = {31, 32, 33, 4096, 4097, 9000})
  void threadsChangeNothing(int rows) {
    Drawn drawn = new Drawn(rows, new SplittableRandom(rows), rows, 67);
    check(drawn, 1);
    check(drawn, 2);
    check(drawn, 7);
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

  @ParameterizedTest
  @ValueSource(ints = {65535, 65536, 65537, 200003})
  void longRows(int width) {
    for (long seed = 0; seed < 12; seed++) {
      check(new Drawn(seed, new SplittableRandom(seed), 2, width), 1);
    }
  }

  private static void check(Drawn drawn, int threads) {
    for (int bits : new int[] {0, 128, 256, 512}) {
      if (bits <= Math.max(128, Backend.best().vectorBits())
          || drawn.elements() <= EMULATED_ELEMENTS) {
        drawn.check(bits, threads);
      }
    }
  }

  /** Where dx is written. */
  private enum Over {
    NOTHING,
    DY,
    DRESIDUAL
  }

  /** One backward call and the contract's answer. */
  private static final class Drawn {
    private static final ElementType[] TYPES = ElementType.values();
    private static final Place[] PLACES = Place.values();

    private final long seed;
    private final int width;
    private final boolean centred;
    private final int part;
    private final double epsilon;
    private final EpsilonPlacement placement;
    private final double offset;
    private final Keep keep;
    private final ElementType[] types = new ElementType[4];
    private final Place[] places = new Place[4];
    private final int[] gaps = new int[4];
    private final Over over;
    private final double[] gain;
    private final double[] bias;
    private final double[][] x;
    private final double[][] dy;
    private final double[][] dresidual;

    Drawn(long seed, SplittableRandom random, int rows, int width) {
      this.seed = seed;
      this.width = width;
      centred = random.nextBoolean();
      keep = Keep.values()[random.nextInt(3)];
      boolean partial = !centred && keep != Keep.OUTPUT && random.nextInt(3) == 0;
      part = partial ? random.nextInt(1, width + 1) : width;
      double[] epsilons = {1e-12, 1e-6, 0.1, 1e-40};
      epsilon = epsilons[random.nextInt(epsilons.length)];
      placement = EpsilonPlacement.values()[random.nextInt(3)];
      offset = random.nextInt(3) == 0 ? 1 : 0;
      boolean float64 = random.nextInt(5) == 0;
      for (int k = 0; k < types.length; k++) {
        types[k] = float64 ? ElementType.FLOAT64 : TYPES[random.nextInt(1, TYPES.length)];
        places[k] = PLACES[random.nextInt(PLACES.length)];
        gaps[k] = random.nextBoolean() ? 0 : random.nextInt(1, 40);
      }
      RandomRows source = new RandomRows(random);
      boolean tame = keep == Keep.OUTPUT || random.nextBoolean();
      gain = random.nextBoolean() ? source.scaled(ElementType.FLOAT32, width, 0.2, 1.5) : null;
      bias = random.nextBoolean() ? source.scaled(ElementType.FLOAT32, width, 1, 0) : null;
      x = new double[rows][];
      dy = new double[rows][];
      dresidual = random.nextInt(3) == 0 ? new double[rows][] : null;
      over =
          switch (random.nextInt(6)) {
            case 0, 1 -> Over.DY;
            case 2, 3 -> dresidual == null ? Over.NOTHING : Over.DRESIDUAL;
            default -> Over.NOTHING;
          };
      if (over != Over.NOTHING) {
        int operand = over == Over.DY ? 1 : 2;
        types[3] = types[operand];
        places[3] = places[operand];
      }
      for (int r = 0; r < rows; r++) {
        x[r] = tame ? source.scaled(types[0], width, 2, 0.5) : source.any(types[0], width);
        dy[r] = source.scaled(types[1], width, 1, 0);
        if (dresidual != null) {
          dresidual[r] = source.scaled(types[2], width, 1, 0);
        }
      }
    }

    long elements() {
      return (long) x.length * width;
    }

    private Norm norm(int bits, int threads) {
      Norm.Builder<?> builder = centred ? LayerNorm.builder(width) : RmsNorm.builder(width);
      builder.epsilon(epsilon).epsilonPlacement(placement).gainOffset(offset).threads(threads);
      builder.backend(bits == 0 ? Backend.scalar() : Backend.vector(bits));
      if (gain != null) {
        builder.gain(gain);
      }
      if (bias != null) {
        builder.bias(bias);
      }
      return centred
          ? ((LayerNorm.Builder) builder).build()
          : ((RmsNorm.Builder) builder).part(part).build();
    }

    void check(int bits, int threads) {
      try (Arena arena = Arena.ofShared()) {
        int rows = x.length;
        Block in = block(arena, 0, x);
        Block slopes = block(arena, 1, dy);
        Block added = dresidual == null ? null : block(arena, 2, dresidual);
        Block out =
            switch (over) {
              case NOTHING -> block(arena, 3, new double[rows][width]);
              case DY -> slopes;
              case DRESIDUAL -> added;
            };
        Block y = new Block(arena, Place.NATIVE, types[0], rows, width, width);
        Norm norm = norm(bits, threads);
        Saved statistics = new Saved(Keep.INPUT, rows);
        norm.apply(in.rows, y.rows, statistics);
        Saved saved = new Saved(keep, rows);
        norm.apply(in.rows, y.rows, saved);
        BackwardContract.Result expected =
            BackwardContract.of(
                choice(),
                values(keep == Keep.OUTPUT ? y : in),
                dy,
                centred && keep != Keep.OUTPUT ? statistics.mean() : new double[rows],
                statistics.rstd(),
                dresidual,
                types[3]);
        float[] dgain = new float[width];
        double[] dbias = new double[width];
        if (over != Over.DY) {
          Block other = block(arena, 3, new double[rows][width]);
          norm.backward(slopes.rows, saved, other.rows, ParameterGradients.assigned(null, dbias));
        }
        ParameterGradients gradients = ParameterGradients.assigned(dgain, null);
        if (added == null) {
          norm.backward(slopes.rows, saved, out.rows, gradients);
        } else {
          norm.backward(slopes.rows, saved, added.rows, out.rows, gradients);
        }
        compare(describe(norm), expected, out, dgain, over == Over.DY ? null : dbias);
        untouched(describe(norm), in, x, null);
        untouched(describe(norm), slopes, dy, out);
        untouched(describe(norm), added, dresidual, out);
        assertThat(out.isGuardIntact()).as(describe(norm)).isTrue();
      }
    }

    /**
     * What is read is as it was, but where dx went; and what is between the rows is in any case.
     */
    private static void untouched(String what, Block block, double[][] values, Block out) {
      if (block == null) {
        return;
      }
      assertThat(block.isGuardIntact()).as(what).isTrue();
      for (int r = 0; r < values.length && block != out; r++) {
        assertThat(block.values(r)).as(what).isEqualTo(values[r]);
      }
    }

    private Block block(Arena arena, int operand, double[][] values) {
      Block block =
          new Block(
              arena, places[operand], types[operand], values.length, width, width + gaps[operand]);
      for (int r = 0; r < values.length; r++) {
        block.put(r, values[r]);
      }
      return block;
    }

    private double[][] values(Block block) {
      double[][] values = new double[x.length][width];
      for (int r = 0; r < x.length; r++) {
        for (int i = 0; i < width; i++) {
          values[r][i] = block.value(r, i);
        }
      }
      return values;
    }

    private BackwardContract.Choice choice() {
      boolean float64 = types[0] == ElementType.FLOAT64;
      double[] g = gain == null ? null : gain.clone();
      for (int i = 0; g != null && i < width; i++) {
        g[i] = float64 ? g[i] + offset : offset == 0 ? (float) g[i] : (float) g[i] + (float) offset;
      }
      return new BackwardContract.Choice(
          centred, part, epsilon, placement, float64, keep == Keep.OUTPUT, g, bias);
    }

    private void compare(
        String what, BackwardContract.Result expected, Block out, float[] dgain, double[] dbias) {
      for (int r = 0; r < x.length; r++) {
        for (int i = 0; i < width; i++) {
          long wanted = Rounding.bits(types[3], expected.dx()[r][i]);
          if (out.bits(r, i) != wanted) {
            throw new AssertionError(
                "%s: dx of row %d, element %d is %s, the contract says %s"
                    .formatted(what, r, i, out.value(r, i), expected.dx()[r][i]));
          }
        }
      }
      for (int i = 0; i < width; i++) {
        assertThat(Float.valueOf(dgain[i]))
            .as("%s: dgain[%d]", what, i)
            .isEqualTo(Float.valueOf((float) expected.dgain()[i]));
        if (dbias != null) {
          assertThat(Double.valueOf(dbias[i]))
              .as("%s: dbias[%d]", what, i)
              .isEqualTo(Double.valueOf(expected.dbias()[i]));
        }
      }
    }

    private String describe(Norm norm) {
      return "seed %d: %d x %d, %s on %s, part %d, %s, offset %s, keep %s, types %s, places %s, gaps %s, over %s"
          .formatted(
              seed,
              x.length,
              width,
              norm,
              norm.backend(),
              part,
              placement,
              offset,
              keep,
              List.of(types),
              List.of(places),
              Arrays.toString(gaps),
              over);
    }
  }
}
