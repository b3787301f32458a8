package io.github.rmsnorm4j.checkpoint;

import java.util.DoubleSummaryStatistics;
import java.util.Optional;
import java.util.function.DoubleConsumer;

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

  /** A trained gain is seldom below 0, a gain - 1 often is. */
  private static final double FEW = 0.05;

  /** Takes the stored numbers of a gain one after the other. */
  static final class Counter implements DoubleConsumer {
    private final GainForm form;
    private final DoubleSummaryStatistics stored = new DoubleSummaryStatistics();
    private int dead;
    private int negative;
    private int negativeStored;
    private int nonFinite;

    Counter(GainForm form) {
      this.form = form;
    }

    @Override
    public void accept(double value) {
      if (!Double.isFinite(value)) {
        nonFinite++;
        return;
      }
      stored.accept(value);
      negativeStored += value < 0 ? 1 : 0;
      dead += value + form.offset() == 0 ? 1 : 0;
      negative += value + form.offset() < 0 ? 1 : 0;
    }

    GainStatistics statistics() {
      boolean none = stored.getCount() == 0;
      return new GainStatistics(
          none ? Double.NaN : stored.getMin() + form.offset(),
          none ? Double.NaN : stored.getAverage() + form.offset(),
          none ? Double.NaN : stored.getMax() + form.offset(),
          dead,
          negative,
          nonFinite,
          none ? Optional.empty() : looksLike());
    }

    private Optional<GainForm> looksLike() {
      double mean = stored.getAverage();
      double share = (double) negativeStored / stored.getCount();
      boolean zero = stored.getMin() == 0 && stored.getMax() == 0;
      if (zero || mean < NEARER_TO_0 && share >= FEW) {
        return Optional.of(GainForm.G_MINUS_1);
      }
      return mean >= NEARER_TO_0 && share < FEW ? Optional.of(GainForm.G) : Optional.empty();
    }
  }
}
