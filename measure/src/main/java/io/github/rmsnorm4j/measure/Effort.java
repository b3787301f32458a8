package io.github.rmsnorm4j.measure;

/**
 * How long to measure.
 *
 * @param settledNanos for how long it must not have become faster, or much slower, before the first
 *     round
 * @param rounds how often they take turns
 * @param sampleNanos about how long a turn lasts; a turn is at least one call
 */
public record Effort(long settledNanos, int rounds, long sampleNanos) {
  /** For figures that are kept. */
  public static final Effort FULL = new Effort(1_000_000_000, 9, 20_000_000);

  /** Shows that everything works; its figures mean little. */
  public static final Effort QUICK = new Effort(300_000_000, 5, 2_000_000);
}
