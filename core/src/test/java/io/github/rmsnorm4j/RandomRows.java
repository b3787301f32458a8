package io.github.rmsnorm4j;

import java.util.SplittableRandom;

/** Rows of all characters, from a seeded source; every value is of the type asked for. */
public final class RandomRows {
  private final SplittableRandom random;

  public RandomRows(SplittableRandom random) {
    this.random = random;
  }

  /** What the rows of one call are like. */
  enum Mix {
    /** Each of its own character. */
    ANY,
    /** None out of its arithmetic's range. */
    ORDINARY,
    /** Ordinary ones, and single rows out of range: in the first chunk, midway, in the last. */
    LONE
  }

  /**
   * The rows of a call.
   *
   * @param chunk how many go through the kernels together
   * @param tiny whether rows may leave the range by being small, which epsilon can prevent
   */
  double[][] of(Mix mix, ElementType type, int rows, int width, int chunk, boolean tiny) {
    double[][] all = new double[rows][];
    for (int r = 0; r < rows; r++) {
      all[r] = mix == Mix.ANY ? any(type, width) : ordinary(type, width);
    }
    if (mix == Mix.LONE && rows > 0) {
      all[random.nextInt(Math.min(chunk, rows))] = outOfRange(type, width, tiny);
      all[rows / 2] = outOfRange(type, width, tiny);
      all[random.nextInt((rows - 1) / chunk * chunk, rows)] = outOfRange(type, width, tiny);
    }
    return all;
  }

  /** A row of usual numbers, with zeros of both signs among them if it has many. */
  public double[] ordinary(ElementType type, int width) {
    double size = Math.pow(10, random.nextDouble(-3, 3));
    double[] row =
        scaled(type, width, size, random.nextBoolean() ? 0 : size * random.nextDouble(-9, 9));
    if (width > 4 && random.nextInt(4) == 0) {
      row[random.nextInt(width)] = 0.0;
      row[random.nextInt(width)] = -0.0;
    }
    return row;
  }

  /** A row whose rstd or mean is out of range; of float16, only by a number that is not finite. */
  public double[] outOfRange(ElementType type, int width, boolean tiny) {
    int kind = type == ElementType.FLOAT16 ? 0 : random.nextInt(tiny ? 6 : 4);
    boolean float64 = type == ElementType.FLOAT64;
    return switch (kind) {
      case 0 -> {
        double special = random.nextBoolean() ? Double.NaN : Double.POSITIVE_INFINITY;
        yield withOne(ordinary(type, width), 0, type, special); // The first is in every part.
      }
      case 1, 2 -> scaled(type, width, float64 ? 1e200 : 3.3e38, 0);
      case 3 -> scaled(type, width, float64 ? 1e190 : 1e35, float64 ? 1e200 : 3e38);
      default -> scaled(type, width, float64 ? 1e-300 : 1e-40, 0);
    };
  }

  /** A row of a character drawn by chance: ordinary, extreme, degenerate or not finite. */
  public double[] any(ElementType type, int width) {
    return switch (random.nextInt(10)) {
      case 0 -> scaled(type, width, Math.pow(10, random.nextDouble(-3, 3)), 0);
      case 1 -> scaled(type, width, Math.scalb(1.0, exponent(type)), 0);
      case 2 -> scaled(type, width, 1, random.nextDouble(-3000, 3000));
      case 3 -> {
        double mean = Math.scalb(random.nextDouble(-1, 1), exponent(type));
        yield scaled(type, width, Math.abs(mean) * 1e-3, mean);
      }
      case 4 -> constant(type, width, Math.scalb(random.nextDouble(-1, 1), exponent(type)));
      case 5 -> constant(type, width, random.nextBoolean() ? 0.0 : -0.0);
      case 6 -> patterns(type, width);
      case 7 -> withOne(scaled(type, width, 1, 0), 0, type, Math.scalb(1.0, exponent(type)));
      case 8 -> {
        double[] specials = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -0.0};
        double special = specials[random.nextInt(specials.length)];
        yield withOne(scaled(type, width, 1, 0), random.nextInt(width), type, special);
      }
      default -> scaled(type, width, 1, 0);
    };
  }

  /** Values around a mean, of one size. */
  double[] scaled(ElementType type, int width, double size, double mean) {
    double[] row = new double[width];
    for (int i = 0; i < width; i++) {
      row[i] = Rounding.to(type, mean + size * random.nextDouble(-1, 1));
    }
    return row;
  }

  /** Every pattern of the type is as likely: all exponents, subnormals, infinities and NaN. */
  private double[] patterns(ElementType type, int width) {
    boolean finite = random.nextInt(4) != 0;
    double[] row = new double[width];
    for (int i = 0; i < width; i++) {
      do {
        row[i] = Rounding.value(type, random.nextLong() & (-1L >>> 64 - 8 * type.bytes()));
      } while (finite && !Double.isFinite(row[i]));
    }
    return row;
  }

  private static double[] constant(ElementType type, int width, double value) {
    double[] row = new double[width];
    java.util.Arrays.fill(row, Rounding.to(type, value));
    return row;
  }

  private static double[] withOne(double[] row, int at, ElementType type, double value) {
    row[at] = Rounding.to(type, value);
    return row;
  }

  /** Of any number the type has, subnormal ones too. */
  private int exponent(ElementType type) {
    return switch (type) {
      case FLOAT64 -> random.nextInt(-1074, 1024);
      case FLOAT32 -> random.nextInt(-149, 128);
      case BFLOAT16 -> random.nextInt(-133, 128);
      case FLOAT16 -> random.nextInt(-24, 16);
    };
  }
}
