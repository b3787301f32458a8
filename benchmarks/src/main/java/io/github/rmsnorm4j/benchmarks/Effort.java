package io.github.rmsnorm4j.benchmarks;

/**
 * How long to measure.
 *
 * @param settledNanos for how long it must not have become faster before the first round
 * @param rounds how often they take turns
 * @param sampleNanos about how long a turn lasts
 * @param pollutionCalls for each way that pollutes; enough to be compiled
 * @param pollutionNanos for each way that pollutes, at least
 */
record Effort(
    long settledNanos, int rounds, long sampleNanos, int pollutionCalls, long pollutionNanos) {
  static final Effort FULL = new Effort(1_000_000_000, 9, 20_000_000, 2000, 25_000_000);

  /** Shows that everything works; its figures mean little. */
  static final Effort QUICK = new Effort(300_000_000, 5, 2_000_000, 100, 0);

  static Effort of(boolean quick) {
    return quick ? QUICK : FULL;
  }
}
