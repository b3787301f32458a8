package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.SplittableRandom;

/** One call of a norm, everything about it drawn from a seed, and the contract's answer. */
final class Case {
  private static final Place[] PLACES = Place.values();
  private static final ElementType[] TYPES = ElementType.values();

  private final String name;
  private final boolean centred;
  private final int width;
  private final double epsilon;
  private final ElementType in;
  private final ElementType out;
  private final Place from;
  private final Place to;
  private final long inGap;
  private final long outGap;
  private final boolean inPlace;
  private final boolean safe;
  private final boolean ownParameters;
  private final boolean statistics;
  private final Vector gain;
  private final Vector bias;
  private final double[][] x;
  private final Contract.Result[] expected;

  /** A gain or bias as it is stored. */
  private record Vector(ElementType type, Place place, double[] values) {
    Rows in(Arena arena) {
      Block block = new Block(arena, place, type, 1, values.length, values.length);
      block.put(0, values);
      return block.rows;
    }
  }

  private Case(String name, SplittableRandom random, int width, int rows, ElementType in) {
    this.name = name;
    this.width = width;
    this.in = in;
    centred = random.nextBoolean();
    inPlace = random.nextInt(4) == 0;
    out = inPlace ? sameSize(random, in) : TYPES[random.nextInt(TYPES.length)];
    double[] epsilons = {0.0, 1e-12, 1e-6, 1e-5, 0.1, 1e-300, 1e100};
    epsilon = epsilons[random.nextInt(epsilons.length)];
    from = PLACES[random.nextInt(PLACES.length)];
    to = inPlace ? from : PLACES[random.nextInt(PLACES.length)];
    inGap = random.nextBoolean() ? 0 : random.nextInt(1, 9);
    outGap = inPlace ? inGap : random.nextBoolean() ? 0 : random.nextInt(1, 9);
    safe = random.nextInt(4) == 0;
    ownParameters = random.nextBoolean();
    statistics = ownParameters && random.nextBoolean();
    RandomRows source = new RandomRows(random);
    gain = random.nextBoolean() ? vector(random, source) : null;
    boolean allowed = ownParameters || gain != null;
    bias = allowed && random.nextBoolean() ? vector(random, source) : null;
    x = new double[rows][];
    expected = new Contract.Result[rows];
    for (int r = 0; r < rows; r++) {
      x[r] = source.any(in, width);
      expected[r] = Contract.row(x[r], in, out, centred, epsilon, values(gain), values(bias));
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
    return of(seed, width, rows, TYPES[random.nextInt(TYPES.length)]);
  }

  long elements() {
    return (long) x.length * width;
  }

  private static ElementType sameSize(SplittableRandom random, ElementType in) {
    ElementType other = in == ElementType.FLOAT16 ? ElementType.BFLOAT16 : ElementType.FLOAT16;
    return in.bytes() == 2 && random.nextBoolean() ? other : in;
  }

  private Vector vector(SplittableRandom random, RandomRows source) {
    ElementType type = TYPES[random.nextInt(TYPES.length)];
    Place place = PLACES[random.nextInt(PLACES.length)];
    return new Vector(type, place, source.scaled(type, width, 2, random.nextDouble(-1, 1)));
  }

  private static double[] values(Vector vector) {
    return vector == null ? null : vector.values;
  }

  /**
   * Makes the call on a backend, 0 bits for plain Java, and compares every bit with the contract.
   */
  void check(int bits, int threads) {
    try (Arena arena = Arena.ofShared()) {
      Block in = new Block(arena, from, this.in, x.length, width, width + inGap);
      for (int r = 0; r < x.length; r++) {
        in.put(r, x[r]);
      }
      Block out = inPlace ? in : new Block(arena, to, this.out, x.length, width, width + outGap);
      if (inPlace && this.out != this.in) {
        out = in.as(this.out);
      }
      double[] mean = statistics ? new double[x.length] : null;
      double[] rstd = statistics ? new double[x.length] : null;
      Norm norm = norm(bits, threads, arena);
      apply(norm, in.rows, out.rows, mean, rstd, arena);
      compare(describe(norm), in, out, mean, rstd);
    }
  }

  private Norm norm(int bits, int threads, Arena arena) {
    Norm.Builder<?> builder = centred ? LayerNorm.builder(width) : RmsNorm.builder(width);
    builder.epsilon(epsilon).threads(threads);
    builder.backend(bits == 0 ? Backend.scalar() : Backend.vector(bits));
    if (safe) {
      builder.safe();
    }
    if (ownParameters && gain != null) {
      builder.gain(gain.in(arena));
    }
    if (ownParameters && bias != null) {
      builder.bias(bias.in(arena));
    }
    return centred ? ((LayerNorm.Builder) builder).build() : ((RmsNorm.Builder) builder).build();
  }

  private void apply(Norm norm, Rows x, Rows y, double[] mean, double[] rstd, Arena arena) {
    if (statistics && norm instanceof LayerNorm layer) {
      layer.apply(x, y, mean, rstd);
    } else if (statistics && norm instanceof RmsNorm rms) {
      rms.apply(x, y, rstd);
    } else if (ownParameters || gain == null) {
      norm.apply(x, y);
    } else if (bias == null) {
      norm.apply(x, gain.in(arena), y);
    } else {
      norm.apply(x, gain.in(arena), bias.in(arena), y);
    }
  }

  private void compare(String what, Block in, Block out, double[] mean, double[] rstd) {
    for (int r = 0; r < x.length; r++) {
      for (int i = 0; i < width; i++) {
        long wanted = Rounding.bits(this.out, expected[r].y()[i]);
        if (out.bits(r, i) != wanted) {
          throw new AssertionError(
              "%s: row %d, element %d of x = %s is %s, the contract says %s"
                  .formatted(what, r, i, x[r][i], out.value(r, i), expected[r].y()[i]));
        }
        if (!inPlace && in.bits(r, i) != Rounding.bits(this.in, x[r][i])) {
          throw new AssertionError(what + ": row " + r + " of the input was changed");
        }
      }
    }
    assertThat(in.isGuardIntact() && out.isGuardIntact()).as(what + ": gaps untouched").isTrue();
    for (int r = 0; r < x.length && statistics; r++) {
      Contract.Result wanted = expected[r];
      assertThat(Double.valueOf(rstd[r]))
          .as(what + ": rstd")
          .isEqualTo(Double.valueOf(wanted.rstd()));
      if (centred) {
        assertThat(Double.valueOf(mean[r]))
            .as(what + ": mean")
            .isEqualTo(Double.valueOf(wanted.mean()));
      }
    }
  }

  private String describe(Norm norm) {
    return name
        + (" -> " + out + (inPlace ? " in place" : ""))
        + (", from " + from + " to " + to + " with gaps " + inGap + " and " + outGap)
        + (safe ? ", safe" : "")
        + (gain == null ? "" : ", gain " + gain.type + " in " + gain.place)
        + (bias == null ? "" : ", bias " + bias.type + " in " + bias.place)
        + (", " + norm + " on " + norm.backend());
  }
}
