package io.github.rmsnorm4j.models.check;

/**
 * How much of Y one norm makes.
 *
 * @param own elements that are equal with the statistics of this library
 * @param equal elements that are equal where statistics may be a few steps off
 * @param elements all elements
 * @param largest the largest difference of the latter, in numbers of the output's type
 * @param steps the most that an rstd is off, in ulp
 */
record Score(long own, long equal, long elements, double largest, long steps) {
  static final Score NONE = new Score(0, 0, 0, 0, 0);

  /** How much is equal, from 0 to 1. */
  double share() {
    return (double) equal / elements;
  }

  boolean isFull() {
    return equal == elements;
  }

  Score plus(Score other) {
    return new Score(
        own + other.own,
        equal + other.equal,
        elements + other.elements,
        Math.max(largest, other.largest),
        Math.max(steps, other.steps));
  }
}
