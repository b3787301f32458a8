package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Objects;

/**
 * The part of a row that its statistic is taken from: the first k elements, where k is a share of
 * the width. All of the row, except in partial RMSNorm (Zhang and Sennrich, section 4).
 *
 * <p>The share is an exact fraction, so {@code 1/16} and {@code 0.0625} are equal.
 *
 * @param numerator of the share in lowest terms, above 0
 * @param denominator of the share, at least the numerator; at most 10^18 unless the share is a
 *     decimal number of at most 340 digits
 * @param roundedDown whether {@code k = (int) (width * share)}, with the share and the product in
 *     float64, as in the code published with the paper; otherwise {@code k = ceil(width * share)},
 *     exactly, as in the paper
 */
public record RowPart(BigInteger numerator, BigInteger denominator, boolean roundedDown) {
  private static final BigInteger LARGEST = BigInteger.valueOf(1_000_000_000_000_000_000L);

  /** Denominators up to this are written as fractions: 1/16, but 0.000123. */
  private static final BigInteger FRACTION = BigInteger.valueOf(1 << 16);

  /** The whole row. */
  public static final RowPart WHOLE = of(1, 1);

  /** Made when it is first needed, because a power of so many digits takes time. */
  private static final class Decimal {
    /** Every float64 number has fewer decimals. */
    static final BigInteger UNIT = BigInteger.TEN.pow(340);
  }

  /**
   * Reduces the fraction; the whole row has nothing to round.
   *
   * @throws NullPointerException if one is null
   * @throws IllegalArgumentException if the share is not above 0 and at most 1, or the denominator
   *     is too large
   */
  public RowPart {
    Objects.requireNonNull(numerator, "numerator is null");
    boolean isLong =
        Objects.requireNonNull(denominator, "denominator is null").compareTo(LARGEST) > 0;
    if (isLong && denominator.compareTo(Decimal.UNIT) > 0) {
      throw new IllegalArgumentException(
          "denominator has %s bits, it must be at most 10^340".formatted(denominator.bitLength()));
    }
    if (numerator.signum() <= 0 || numerator.compareTo(denominator) > 0) {
      throw new IllegalArgumentException(
          "part is %s/%s, it must be above 0 and at most 1".formatted(numerator, denominator));
    }
    if (numerator.equals(denominator)) {
      numerator = BigInteger.ONE;
      denominator = BigInteger.ONE;
    } else {
      BigInteger divisor = numerator.gcd(denominator);
      numerator = numerator.divide(divisor);
      denominator = denominator.divide(divisor);
    }
    if (denominator.compareTo(LARGEST) > 0 && Decimal.UNIT.mod(denominator).signum() != 0) {
      throw new IllegalArgumentException(
          "denominator is %s, of a share that is no decimal number it must be at most 10^18"
              .formatted(NormText.quoted(denominator.toString())));
    }
    roundedDown &= !numerator.equals(denominator);
  }

  /**
   * {@return the fraction k/n of a row, rounded up to whole elements}
   *
   * @param k elements, 1 to n
   * @param n of how many
   * @throws IllegalArgumentException if k is not between 1 and n
   */
  public static RowPart of(long k, long n) {
    return new RowPart(BigInteger.valueOf(k), BigInteger.valueOf(n), false);
  }

  /**
   * {@return the part that is a share of a row, rounded up to whole elements} The share counts as
   * the decimal number that was written, so 0.07 of 100 is 7.
   *
   * @param share above 0, at most 1; 0.0625 in the paper
   * @throws IllegalArgumentException if it is anything else
   */
  public static RowPart of(double share) {
    if (!(share > 0 && share <= 1)) {
      throw new IllegalArgumentException("part is " + share + ", it must be above 0 and at most 1");
    }
    return of(BigDecimal.valueOf(share));
  }

  private static RowPart of(BigDecimal share) {
    BigInteger unit = BigInteger.TEN.pow(Math.max(share.scale(), 0));
    return new RowPart(share.multiply(new BigDecimal(unit)).toBigIntegerExact(), unit, false);
  }

  /**
   * {@return the same share, rounded down to whole elements as in the code published with the
   * paper: 0.29 of 100 is 28}
   */
  public RowPart down() {
    return new RowPart(numerator, denominator, true);
  }

  /** {@return whether this is the whole row: whether the share is 1} */
  public boolean isWhole() {
    return numerator.equals(denominator);
  }

  /**
   * {@return how many elements these are, from 1 to the width}
   *
   * @param width elements of a row
   * @throws IllegalArgumentException if no element is left after rounding down
   */
  public int elements(int width) {
    if (isWhole()) {
      return width;
    }
    BigDecimal of = new BigDecimal(numerator);
    BigDecimal all = new BigDecimal(denominator);
    if (!roundedDown) {
      return of.multiply(BigDecimal.valueOf(width))
          .divide(all, 0, RoundingMode.CEILING)
          .intValueExact();
    }
    BigDecimal share = of.divide(all, MathContext.DECIMAL128);
    int k =
        FirstTier.isInJavasState()
            ? down(width, share)
            : FloatingPointGuard.of(() -> down(width, share));
    if (k == 0) {
      throw new IllegalArgumentException(
          "part is %s, it must leave at least one of the %s elements of a row"
              .formatted(NormText.quoted(toString()), width));
    }
    return k;
  }

  private static int down(int width, BigDecimal share) {
    return (int) (width * share.doubleValue());
  }

  /** Reads what {@link #toString} writes, and decimal fractions. */
  static RowPart parse(String text) {
    String[] words = text.split(" ", -1);
    boolean down = words.length == 2 && words[1].equals("down");
    boolean known =
        (words.length == 1 || down)
            && words[0].matches("\\d{1,19}/0*[1-9]\\d{0,18}|\\d?(\\.\\d{1,340})?(?<=\\d)");
    if (!known) {
      throw new IllegalArgumentException("no part of a row");
    }
    String[] fraction = words[0].split("/", -1);
    RowPart part =
        fraction.length == 2
            ? new RowPart(new BigInteger(fraction[0]), new BigInteger(fraction[1]), false)
            : of(new BigDecimal(words[0]));
    return down ? part.down() : part;
  }

  /** For example {@code 1/16} or {@code 0.0625001 down}. */
  @Override
  public String toString() {
    String share = numerator + "/" + denominator;
    if (denominator.compareTo(FRACTION) > 0) {
      try {
        share = new BigDecimal(numerator).divide(new BigDecimal(denominator)).toPlainString();
      } catch (ArithmeticException ignored) {
        // Not a decimal number, so it stays a fraction.
      }
    }
    return (isWhole() ? "1" : share) + (roundedDown ? " down" : "");
  }
}
