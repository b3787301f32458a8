package io.github.rmsnorm4j.models.rewrite;

/** The largest of many differences, each as a share of its bound. */
final class Worst {
  private final String what;
  private long count;
  private double largest;
  private String where = "";

  Worst(String what) {
    this.what = what;
  }

  /** Whether a difference is within its bound; a difference that is NaN is not. */
  void add(double difference, double bound, String place) {
    count++;
    double share = difference == 0 ? 0 : Math.abs(difference) / bound;
    if (!(share <= largest)) {
      largest = Double.isNaN(share) ? Double.POSITIVE_INFINITY : share;
      where = place;
    }
  }

  Finding finding() {
    return new Finding(what, count, largest, where);
  }
}
