package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * One backward call and the forward call before it, everything about them drawn from a seed, and
 * the contract's answer.
 */
final class BackwardCase {
  private static final ElementType[] TYPES = ElementType.values();
  private static final Place[] PLACES = Place.values();
  private static final int[] THREADS = {1, 2, 3, 7};

  /** Where dx is written. */
  private enum Over {
    NOTHING,
    DY,
    DRESIDUAL
  }

  /** Values in memory: of some type, somewhere, with gaps between rows. */
  private record Operand(ElementType type, Place place, int gap, double[][] rows) {
    Block in(Arena arena) {
      int width = rows[0].length;
      Block block = new Block(arena, place, type, rows.length, width, width + gap);
      for (int r = 0; r < rows.length; r++) {
        block.put(r, rows[r]);
      }
      return block;
    }

    Values row(int r) {
      return new Values(type, rows[r]);
    }

    static Rows rows(Operand operand, Arena arena) {
      return operand == null ? null : operand.in(arena).rows;
    }
  }

  /** The gradient of a parameter: float[] or double[], and what was in it before. */
  private record Learned(boolean wide, double[] before) {
    Object array() {
      if (wide) {
        return before.clone();
      }
      float[] floats = new float[before.length];
      IntStream.range(0, floats.length).forEach(i -> floats[i] = (float) before[i]);
      return floats;
    }

    double after(int i, double sum, boolean added) {
      double value = wide ? sum : (float) sum;
      double total = added ? before[i] + value : value;
      return wide ? total : (float) total;
    }
  }

  /** How many threads may work on it. */
  final int threads;

  private final String name;
  private final SplittableRandom random;
  private final int rows;
  private final int width;
  private final Variant is;
  private final Keep keep;
  private final boolean float64;
  private final boolean ofCall;
  private final Operand x;
  private final Operand residual;
  private final Operand y;
  private final Operand gain;
  private final Operand bias;
  private final Operand dy;
  private final Operand dresidual;
  private final Operand dx;
  private final Over over;
  private final Learned dgain;
  private final Learned dbias;
  private final boolean adds;
  private BackwardContract.Result expected;

  BackwardCase(long seed, int rows, int width) {
    name = "seed " + seed + ", " + rows + " x " + width;
    random = new SplittableRandom(seed);
    this.rows = rows;
    this.width = width;
    threads = THREADS[random.nextInt(THREADS.length)];
    double[] epsilons = {1e-12, 1e-6, 0.1, 1e-40};
    is = Variant.any(random, width, epsilons[random.nextInt(epsilons.length)]);
    boolean output = is.part() == width && random.nextInt(3) == 0;
    keep = output ? Keep.OUTPUT : random.nextBoolean() ? Keep.INPUT : Keep.NOTHING;
    float64 = random.nextInt(5) == 0;
    ofCall = random.nextBoolean();
    RandomRows source = new RandomRows(random);
    boolean tame = output || random.nextBoolean();
    x = operand(type -> tame ? source.scaled(type, width, 2, 0.5) : source.any(type, width));
    y = operand(type -> new double[width]);
    residual = maybe(2, operand(type -> source.scaled(type, width, 1, 0)));
    gain = maybe(2, parameter(type -> source.scaled(type, width, 0.2, 1.5)));
    boolean mayHaveBias = is.order() == CastOrder.FLOAT32;
    bias = mayHaveBias ? maybe(2, parameter(type -> source.scaled(type, width, 1, 0))) : null;
    dy = operand(type -> source.scaled(type, width, 1, 0));
    dresidual = maybe(3, operand(type -> source.scaled(type, width, 1, 0)));
    over = random.nextInt(3) == 0 ? Over.DY : random.nextBoolean() ? Over.NOTHING : Over.DRESIDUAL;
    Operand own = operand(type -> new double[width]);
    dx = over == Over.DY ? dy : over == Over.DRESIDUAL && dresidual != null ? dresidual : own;
    boolean wide = float64 || random.nextBoolean();
    dgain = maybe(4, learned(wide));
    dbias = maybe(2, learned(wide));
    adds = random.nextBoolean();
  }

  private interface Row {
    double[] of(ElementType type);
  }

  /** Rows of one of the types that go with the arithmetic. */
  private Operand operand(Row row) {
    ElementType type = float64 ? ElementType.FLOAT64 : TYPES[random.nextInt(1, TYPES.length)];
    int gap = random.nextBoolean() ? 0 : random.nextInt(1, 40);
    double[][] values = new double[rows][];
    Arrays.setAll(values, r -> row.of(type));
    return new Operand(type, PLACES[random.nextInt(PLACES.length)], gap, values);
  }

  private Operand parameter(Row row) {
    ElementType type = TYPES[random.nextInt(TYPES.length)];
    double[][] values = {row.of(type)};
    return new Operand(type, PLACES[random.nextInt(PLACES.length)], 0, values);
  }

  private Learned learned(boolean wide) {
    double[] before = new RandomRows(random).scaled(ElementType.FLOAT32, width, 3, 0);
    return new Learned(wide, before);
  }

  /** That, or null once in so many times. */
  private <T> T maybe(int times, T value) {
    return random.nextInt(times) == 0 ? null : value;
  }

  /** Makes both calls on backends, 0 bits for plain Java, and compares every bit. */
  void check(int threads, List<Integer> backends) {
    if (expected == null) {
      expected = expected();
    }
    for (int bits : backends) {
      try (Arena arena = Arena.ofShared()) {
        check(arena, bits, threads);
      }
    }
  }

  long elements() {
    return (long) rows * width;
  }

  private Norm norm(Arena arena, int bits, int threads) {
    return is.norm(
        builder -> {
          builder.threads(threads);
          builder.backend(bits == 0 ? Backend.scalar() : Backend.vector(bits));
          if (!ofCall && gain != null) {
            builder.gain(gain.in(arena).rows);
          }
          if (!ofCall && bias != null) {
            builder.bias(bias.in(arena).rows);
          }
        });
  }

  /** The forward call: x and what it is added to, or null, to y. */
  private void forward(Norm norm, Arena arena, Block in, Block sum, Block out, Saved saved) {
    Rows g = ofCall ? Operand.rows(gain, arena) : null;
    Rows b = ofCall ? Operand.rows(bias, arena) : null;
    if (sum == null) {
      norm.apply(in.rows, g, b, out.rows, saved);
    } else {
      norm.addAndApply(in.rows, sum.rows, g, b, out.rows, saved);
    }
  }

  /** By the contract alone: forward row by row, and backward from what that keeps. */
  private BackwardContract.Result expected() {
    boolean output = keep == Keep.OUTPUT;
    double[][] kept = new double[rows][];
    double[] mean = new double[rows];
    double[] rstd = new double[rows];
    for (int r = 0; r < rows; r++) {
      Values added = residual == null ? null : residual.row(r);
      Contract.Result forward = forward(x.row(r), added);
      kept[r] = output ? forward.y() : added == null ? x.rows[r] : forward.residual();
      if (keep == Keep.NOTHING && added != null) {
        // The statistic is that of the sum as it was stored.
        forward = forward(new Values(added.type(), kept[r]), null);
      }
      mean[r] = is.centred() && !output ? forward.mean() : 0;
      rstd[r] = forward.rstd();
    }
    double[][] added = dresidual == null ? null : dresidual.rows;
    BackwardContract.Choice choice =
        new BackwardContract.Choice(
            is.centred(),
            is.part(),
            is.epsilon(),
            is.placement(),
            float64,
            output,
            gain == null ? null : rounded(gain.rows[0], is.gainOffset()),
            bias == null ? null : rounded(bias.rows[0], 0));
    return BackwardContract.of(choice, kept, dy.rows, mean, rstd, added, dx.type);
  }

  private Contract.Result forward(Values x, Values added) {
    Values g = gain == null ? null : gain.row(0);
    Values b = bias == null ? null : bias.row(0);
    return Contract.row(is, x, added, g, b, y.type);
  }

  /** To the arithmetic's type, and with an offset that is added in that. */
  private double[] rounded(double[] values, double offset) {
    return Arrays.stream(values)
        .map(v -> float64 ? v : (float) v)
        .map(v -> offset == 0 ? v : float64 ? v + offset : (float) v + (float) offset)
        .toArray();
  }

  private void check(Arena arena, int bits, int threads) {
    Norm norm = norm(arena, bits, threads);
    Block in = x.in(arena);
    Block sum = residual == null ? null : residual.in(arena);
    Block out = y.in(arena);
    Saved saved = new Saved(keep, rows);
    forward(norm, arena, in, sum, out, saved);
    Block slopes = dy.in(arena);
    Block added = dresidual == null ? null : dresidual.in(arena);
    Block to = dx == dy ? slopes : dx == dresidual ? added : dx.in(arena);
    Object[] arrays = {dgain == null ? null : dgain.array(), dbias == null ? null : dbias.array()};
    if (added == null) {
      norm.backward(slopes.rows, saved, to.rows, gradients(arrays));
    } else {
      norm.backward(slopes.rows, saved, added.rows, to.rows, gradients(arrays));
    }
    String what = describe(norm, threads);
    compare(what, to);
    compare(what + ": dgain", dgain, arrays[0], expected.dgain());
    compare(what + ": dbias", dbias, arrays[1], expected.dbias());
    untouched(what, in, x, to);
    untouched(what, slopes, dy, to);
    untouched(what, added, dresidual, to);
    assertThat(to.isGuardIntact()).as(what).isTrue();
  }

  private ParameterGradients gradients(Object[] to) {
    boolean wide = dgain != null ? dgain.wide : dbias != null && dbias.wide;
    if (wide) {
      double[] g = (double[]) to[0];
      double[] b = (double[]) to[1];
      return adds ? ParameterGradients.added(g, b) : ParameterGradients.assigned(g, b);
    }
    float[] g = (float[]) to[0];
    float[] b = (float[]) to[1];
    return adds ? ParameterGradients.added(g, b) : ParameterGradients.assigned(g, b);
  }

  private void compare(String what, Block out) {
    for (int r = 0; r < rows; r++) {
      for (int i = 0; i < width; i++) {
        double wanted = expected.dx()[r][i];
        if (out.bits(r, i) != Rounding.bits(dx.type, wanted)) {
          throw new AssertionError(
              "%s: dx of row %d, element %d is %s, the contract says %s"
                  .formatted(what, r, i, out.value(r, i), wanted));
        }
      }
    }
  }

  private void compare(String what, Learned learned, Object array, double[] sums) {
    for (int i = 0; learned != null && i < width; i++) {
      double is = learned.wide ? ((double[]) array)[i] : ((float[]) array)[i];
      double wanted = learned.after(i, sums[i], adds);
      if (Double.doubleToLongBits(is) != Double.doubleToLongBits(wanted)) {
        throw new AssertionError(
            "%s[%d] is %s, the contract says %s".formatted(what, i, is, wanted));
      }
    }
  }

  /** What is read is as it was, but where dx went; and what is between the rows in any case. */
  private static void untouched(String what, Block block, Operand was, Block out) {
    if (block == null) {
      return;
    }
    assertThat(block.isGuardIntact()).as(what).isTrue();
    for (int r = 0; r < was.rows.length && block != out; r++) {
      assertThat(block.values(r)).as(what).isEqualTo(was.rows[r]);
    }
  }

  private String describe(Norm norm, int threads) {
    return name
        + (", " + threads + " threads, " + is + " on " + norm.backend() + ", keep " + keep)
        + (", x " + text(x) + ", residual " + text(residual) + ", y " + text(y))
        + (", gain " + text(gain) + ", bias " + text(bias) + (ofCall ? " of the call" : ""))
        + (", dy " + text(dy) + ", dresidual " + text(dresidual) + ", dx " + text(dx))
        + (" over " + over + (adds ? ", added" : ", assigned"))
        + (", dgain " + (dgain != null) + ", dbias " + (dbias != null));
  }

  private static String text(Operand operand) {
    return operand == null ? "none" : operand.type + " in " + operand.place + "+" + operand.gap;
  }
}
