package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.measure.Samples;

/** Two variants compared, as a clause without a full stop. */
final class Contrast {
  /** Two times differ where no round of the one lies among the rounds of the other. */
  private static final String NO_DIFFERENCE =
      "no difference found between the times of %s and %s (%s; %s)";

  /** Fresh JVMs of the same kind differ by some MiB. */
  private static final double LIKE_IN_MEMORY = 0.03;

  private static final long LIKE_IN_BYTES = 8 << 20;

  private Contrast() {}

  /** "naive RMSNorm took 2.31 times as long as fused LayerNorm". */
  static String ofTime(Timing timing, Variant one, Variant other) {
    Samples a = timing.of(one).nanos();
    Samples b = timing.of(other).nanos();
    Ratio ratio = new Ratio(a, b);
    if (!ratio.differs()) {
      return NO_DIFFERENCE.formatted(
          name(one),
          name(other),
          Figures.times(a.lowest(), a.highest()),
          Figures.times(b.lowest(), b.highest()));
    }
    String how =
        ratio.value() > 1
            ? "%s took %s times as long as %s (%s against %s)"
            : "%s took %s of the time of %s (%s against %s)";
    return how.formatted(
        name(one),
        Figures.ratio(ratio.value()),
        name(other),
        Figures.time(a.median()),
        Figures.time(b.median()));
  }

  /** "naive RMSNorm took 1.50 times the memory of fused LayerNorm". */
  static String ofMemory(Variant one, long a, Variant other, long b) {
    double ratio = (double) a / b;
    String sizes = "(%s against %s)".formatted(Figures.bytes(a), Figures.bytes(b));
    if (!differ(a, b)) {
      return "no difference found between the memory of %s and %s %s"
          .formatted(name(one), name(other), sizes);
    }
    String how =
        ratio > 1 ? "%s took %s times the memory of %s %s" : "%s took %s of the memory of %s %s";
    return how.formatted(name(one), Figures.ratio(ratio), name(other), sizes);
  }

  /** Whether two sizes are farther apart than processes of the same kind. */
  static boolean differ(long a, long b) {
    return Math.abs(a - b) > Math.max(LIKE_IN_BYTES, LIKE_IN_MEMORY * Math.max(a, b));
  }

  private static String name(Variant variant) {
    return (variant.isFused() ? "fused " : "naive ") + (variant.isRms() ? "RMSNorm" : "LayerNorm");
  }

  /** One time over another. */
  record Ratio(Samples one, Samples other) {
    double value() {
      return one.over(other);
    }

    /** Whether all rounds of one were longer than all of the other. */
    boolean differs() {
      return one.lowest() > other.highest() || one.highest() < other.lowest();
    }
  }
}
