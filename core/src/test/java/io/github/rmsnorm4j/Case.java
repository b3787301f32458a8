package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.SplittableRandom;

/** One call of a norm, everything about it drawn from a seed, and the contract's answer. */
final class Case {
  private static final Place[] PLACES = Place.values();
  private static final ElementType[] TYPES = ElementType.values();

  private final String name;
  private final Variant norm;
  private final int width;
  private final ElementType in;
  private final ElementType out;
  private final ElementType added;
  private final Place from;
  private final Place to;
  private final Place residualPlace;
  private final long inGap;
  private final long outGap;
  private final long residualGap;
  private final boolean inPlace;
  private final boolean safe;
  private final boolean ownParameters;
  private final boolean statistics;
  private final Vector gain;
  private final Vector bias;
  private final double[][] x;
  private final double[][] residual;
  private final Contract.Result[] expected;

  /** A gain or bias as it is stored. */
  private record Vector(Values values, Place place) {
    Rows in(Arena arena) {
      int width = values.of().length;
      Block block = new Block(arena, place, values.type(), 1, width, width);
      block.put(0, values.of());
      return block.rows;
    }

    static Values of(Vector vector) {
      return vector == null ? null : vector.values;
    }
  }

  private Case(String name, SplittableRandom random, int width, int rows, ElementType in) {
    this.name = name;
    this.width = width;
    this.in = in;
    inPlace = random.nextInt(4) == 0;
    out = inPlace ? sameSize(random, in) : anyOf(random, TYPES);
    double[] epsilons = {0.0, 1e-12, 1e-6, 1e-5, 0.1, 1e-200, 1e-300, 1e100};
    norm = Variant.any(random, width, epsilons[random.nextInt(epsilons.length)]);
    from = anyOf(random, PLACES);
    to = inPlace ? from : anyOf(random, PLACES);
    inGap = gap(random);
    outGap = inPlace ? inGap : gap(random);
    added = random.nextInt(3) == 0 ? residualType(random, in) : null;
    residualPlace = anyOf(random, PLACES);
    residualGap = gap(random);
    safe = random.nextInt(4) == 0;
    ownParameters = random.nextBoolean();
    statistics = ownParameters && random.nextBoolean();
    RandomRows source = new RandomRows(random);
    gain = random.nextBoolean() ? vector(random, source) : null;
    boolean allowed = norm.order() == CastOrder.FLOAT32 && (ownParameters || gain != null);
    bias = allowed && random.nextBoolean() ? vector(random, source) : null;
    x = new double[rows][];
    residual = new double[rows][];
    expected = new Contract.Result[rows];
    for (int r = 0; r < rows; r++) {
      x[r] = source.any(in, width);
      residual[r] = added == null ? null : source.any(added, width);
      expected[r] =
          Contract.row(
              norm,
              new Values(in, x[r]),
              added == null ? null : new Values(added, residual[r]),
              Vector.of(gain),
              Vector.of(bias),
              out);
    }
  }

  /** Any call of a given width and type. */
  static Case of(long seed, int width, int rows, ElementType in) {
    String name = "seed " + seed + ", " + rows + " x " + width + " " + in;
    return new Case(name, new SplittableRandom(seed), width, rows, in);
  }

  /** Any call at all, with one of these widths or a small one. */
  static Case of(long seed, int[] widths) {
    SplittableRandom random = new SplittableRandom(~seed);
    int width =
        random.nextBoolean() ? widths[random.nextInt(widths.length)] : random.nextInt(1, 300);
    int rows = random.nextInt(0, Math.clamp(8000 / width, 2, 140));
    return of(seed, width, rows, anyOf(random, TYPES));
  }

  long elements() {
    return (long) x.length * width;
  }

  private static <T> T anyOf(SplittableRandom random, T[] values) {
    return values[random.nextInt(values.length)];
  }

  private static ElementType sameSize(SplittableRandom random, ElementType in) {
    ElementType other = in == ElementType.FLOAT16 ? ElementType.BFLOAT16 : ElementType.FLOAT16;
    return in.bytes() == 2 && random.nextBoolean() ? other : in;
  }

  /** Float64 where the rows are, and only there. */
  private static ElementType residualType(SplittableRandom random, ElementType in) {
    ElementType[] others = {ElementType.FLOAT32, ElementType.FLOAT16, ElementType.BFLOAT16};
    return in == ElementType.FLOAT64 ? in : anyOf(random, others);
  }

  private static long gap(SplittableRandom random) {
    return random.nextBoolean() ? 0 : random.nextInt(1, 9);
  }

  private Vector vector(SplittableRandom random, RandomRows source) {
    ElementType type = anyOf(random, TYPES);
    double[] values = source.scaled(type, width, 2, random.nextDouble(-1, 1));
    return new Vector(new Values(type, values), anyOf(random, PLACES));
  }

  private Block block(Arena arena, Place place, ElementType type, long gap, double[][] values) {
    Block block = new Block(arena, place, type, x.length, width, width + gap);
    for (int r = 0; r < values.length; r++) {
      block.put(r, values[r]);
    }
    return block;
  }

  /**
   * Makes the call on a backend, 0 bits for plain Java, and compares every bit with the contract.
   */
  void check(int bits, int threads) {
    try (Arena arena = Arena.ofShared()) {
      Block in = block(arena, from, this.in, inGap, x);
      Block out = inPlace ? in.as(this.out) : block(arena, to, this.out, outGap, new double[0][]);
      Block sum = added == null ? null : block(arena, residualPlace, added, residualGap, residual);
      Backend backend = bits == 0 ? Backend.scalar() : Backend.vector(bits);
      Norm norm = this.norm.norm(builder -> configure(builder, backend, threads, arena));
      double[][] kept = apply(norm, in.rows, sum == null ? null : sum.rows, out.rows, arena);
      String what = describe(norm);
      compare(what, in, out, sum);
      if (statistics) {
        compare(what, kept[0], kept[1]);
      }
    }
  }

  private void configure(Norm.Builder<?> builder, Backend backend, int threads, Arena arena) {
    builder.threads(threads).backend(backend);
    if (safe) {
      builder.safe();
    }
    if (ownParameters && gain != null) {
      builder.gain(gain.in(arena));
    }
    if (ownParameters && bias != null) {
      builder.bias(bias.in(arena));
    }
  }

  /** By the door that takes what this call has; gives means and rstds if they are wanted. */
  private double[][] apply(Norm norm, Rows x, Rows residual, Rows y, Arena arena) {
    Rows g = ownParameters || gain == null ? null : gain.in(arena);
    Rows b = ownParameters || bias == null ? null : bias.in(arena);
    double[][] kept = {new double[this.x.length], new double[this.x.length]};
    boolean mayKeepInput = residual != null || !inPlace;
    if (statistics && mayKeepInput || residual != null && g != null) {
      Saved saved = new Saved(statistics ? Keep.INPUT : Keep.NOTHING, this.x.length);
      if (residual != null) {
        norm.addAndApply(x, residual, g, b, y, saved);
      } else {
        norm.apply(x, y, saved);
      }
      return new double[][] {saved.mean(), saved.rstd()};
    }
    if (residual != null) {
      norm.addAndApply(x, residual, y);
    } else if (statistics && norm instanceof LayerNorm layer) {
      layer.apply(x, y, kept[0], kept[1]);
    } else if (statistics && norm instanceof RmsNorm rms) {
      rms.apply(x, y, kept[1]);
    } else if (g == null) {
      norm.apply(x, y);
    } else if (b == null) {
      norm.apply(x, g, y);
    } else {
      norm.apply(x, g, b, y);
    }
    return kept;
  }

  private void compare(String what, Block in, Block out, Block sum) {
    for (int r = 0; r < x.length; r++) {
      compare(what + ": row " + r, out, r, expected[r].y());
      if (!inPlace) {
        compare(what + ": input row " + r, in, r, x[r]);
      }
      if (sum != null) {
        compare(what + ": residual row " + r, sum, r, expected[r].residual());
      }
    }
    boolean intact = in.isGuardIntact() && out.isGuardIntact();
    assertThat(intact && (sum == null || sum.isGuardIntact())).as(what + ": gaps").isTrue();
  }

  private void compare(String what, Block actual, int row, double[] wanted) {
    for (int i = 0; i < width; i++) {
      if (actual.bits(row, i) != Rounding.bits(actual.rows.type(), wanted[i])) {
        throw new AssertionError(
            "%s, element %d of x = %s is %s, the contract says %s"
                .formatted(what, i, x[row][i], actual.value(row, i), wanted[i]));
      }
    }
  }

  private void compare(String what, double[] mean, double[] rstd) {
    for (int r = 0; r < x.length; r++) {
      same(what + ": rstd of row " + r, rstd[r], expected[r].rstd());
      if (norm.centred()) {
        same(what + ": mean of row " + r, mean[r], expected[r].mean());
      }
    }
  }

  private static void same(String what, double actual, double wanted) {
    assertThat(Double.valueOf(actual)).as(what).isEqualTo(Double.valueOf(wanted));
  }

  private String describe(Norm built) {
    return name
        + (" -> " + out + (inPlace ? " in place" : ""))
        + (", from " + from + " to " + to + " with gaps " + inGap + " and " + outGap)
        + (added == null ? "" : ", residual " + added + " in " + residualPlace)
        + (safe ? ", safe" : "")
        + (statistics ? ", statistics kept" : "")
        + (gain == null ? "" : ", gain " + gain.values.type() + " in " + gain.place)
        + (bias == null ? "" : ", bias " + bias.values.type() + " in " + bias.place)
        + (ownParameters ? "" : " of the call")
        + (", " + norm + " on " + built.backend());
  }
}
