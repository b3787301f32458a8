package io.github.rmsnorm4j.models.rewrite;

/** One thing that a proof compares, in all its places: the largest difference of its bound. */
public final class Compared {
  private final String what;
  private long count;
  private double largest;
  private String where = "";

  Compared(String what) {
    this.what = what;
  }

  /** Takes a difference and how large it may be. A difference that is NaN is too large. */
  void add(double difference, double bound, String place) {
    count++;
    double share = difference == 0 ? 0 : Math.abs(difference) / bound;
    if (!(share <= largest)) {
      largest = Double.isNaN(share) ? Double.POSITIVE_INFINITY : share;
      where = place;
    }
  }

  /** {@return what was compared} */
  public String what() {
    return what;
  }

  /** {@return how many numbers were compared, norms or tensors} */
  public long count() {
    return count;
  }

  /** {@return the largest difference as a share of its bound} */
  public double largest() {
    return largest;
  }

  /** {@return the place of the largest difference} */
  public String where() {
    return where;
  }

  /** {@return whether each difference is within its bound: the largest share is at most 1} */
  public boolean holds() {
    return largest <= 1;
  }
}
