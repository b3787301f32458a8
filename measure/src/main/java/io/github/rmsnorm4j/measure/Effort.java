package io.github.rmsnorm4j.measure;

/**
 * How long to measure.
 *
 * @param settledNanos for how long it must neither have become faster nor have taken twice its best
 *     time before the first round; a warm-up ends after 20 times as long in any case
 * @param rounds how often they take turns
 * @param sampleNanos about how long a turn lasts; a turn is at least one call
 */
public record Effort(long settledNanos, int rounds, long sampleNanos) {
  /** For figures that are kept. */
  public static final Effort FULL = new Effort(1_000_000_000, 9, 20_000_000);

  /** Shows that everything works; its figures mean little. */
  public static final Effort QUICK = new Effort(300_000_000, 5, 2_000_000);
}
