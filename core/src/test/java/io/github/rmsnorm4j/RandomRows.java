package io.github.rmsnorm4j;

import java.util.SplittableRandom;

/** Rows of all characters, from a seeded source; every value is of the type asked for. */
final class RandomRows {
  private final SplittableRandom random;

  RandomRows(SplittableRandom random) {
    this.random = random;
  }

  /** A row of a character drawn by chance: ordinary, extreme, degenerate or not finite. */
  double[] any(ElementType type, int width) {
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
