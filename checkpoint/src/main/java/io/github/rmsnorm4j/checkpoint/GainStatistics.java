package io.github.rmsnorm4j.checkpoint;

import java.util.Arrays;
import java.util.Optional;

/**
 * What the gain of a norm is like.
 *
 * @param least the least gain
 * @param mean their mean
 * @param greatest the greatest gain
 * @param dead how many are 0: what the norm gives there is 0 for every row
 * @param negative how many are below 0
 * @param nonFinite how many are NaN or infinite; they do not count in the other figures
 * @param looksLike how the stored numbers look as if the gain was stored; empty if they may be
 *     either
 */
public record GainStatistics(
    double least,
    double mean,
    double greatest,
    int dead,
    int negative,
    int nonFinite,
    Optional<GainForm> looksLike) {
  /** A mean of the stored numbers below this is nearer to 0 than to 1. */
  private static final double NEARER_TO_0 = 0.5;

  /** A trained gain is seldom below 0, a gain less 1 often is. */
  private static final double FEW = 0.05;

  /** Of stored numbers. */
  static GainStatistics of(double[] stored, GainForm form) {
    double[] finite = Arrays.stream(stored).filter(Double::isFinite).toArray();
    double[] gains = Arrays.stream(finite).map(value -> value + form.offset()).toArray();
    return new GainStatistics(
        Arrays.stream(gains).min().orElse(Double.NaN),
        Arrays.stream(gains).average().orElse(Double.NaN),
        Arrays.stream(gains).max().orElse(Double.NaN),
        (int) Arrays.stream(gains).filter(gain -> gain == 0).count(),
        (int) Arrays.stream(gains).filter(gain -> gain < 0).count(),
        stored.length - finite.length,
        looksLike(finite));
  }

  private static Optional<GainForm> looksLike(double[] stored) {
    double mean = Arrays.stream(stored).average().orElse(Double.NaN);
    double negative = Arrays.stream(stored).filter(value -> value < 0).count();
    double share = negative / Math.max(stored.length, 1);
    boolean zero = stored.length > 0 && Arrays.stream(stored).allMatch(value -> value == 0);
    if (zero || mean < NEARER_TO_0 && share >= FEW) {
      return Optional.of(GainForm.G_MINUS_1);
    }
    return mean >= NEARER_TO_0 && share < FEW ? Optional.of(GainForm.G) : Optional.empty();
  }
}
