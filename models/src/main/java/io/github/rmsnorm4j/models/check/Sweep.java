package io.github.rmsnorm4j.models.check;

import java.util.Arrays;
import java.util.function.LongPredicate;
import java.util.function.LongToDoubleFunction;

/** Finds the number that makes most elements equal, where each is so for a range of numbers. */
final class Sweep {
  private final long[] starts;
  private final long[] ends;
  private int count;

  Sweep(int elements) {
    starts = new long[elements];
    ends = new long[elements];
  }

  /** One element: a function that grows or falls with k, and what it has to be. */
  void add(LongToDoubleFunction at, double target, long from, long to) {
    long[] range = within(at, target, from, to, at.applyAsDouble(from), at.applyAsDouble(to));
    if (range != null) {
      starts[count] = range[0];
      ends[count++] = range[1];
    }
  }

  /** The k within so many ranges as possible that is nearest to a wanted one. */
  long best(long wanted) {
    long[] sortedStarts = Arrays.copyOf(starts, count);
    long[] sortedEnds = Arrays.copyOf(ends, count);
    Arrays.sort(sortedStarts);
    Arrays.sort(sortedEnds);
    int most = 0;
    long best = wanted;
    int closed = 0;
    for (int opened = 0; opened < count; opened++) {
      while (sortedEnds[closed] < sortedStarts[opened]) {
        closed++;
      }
      // From here to the next end, or the next start, so many ranges are open.
      int open = opened + 1 - closed;
      long to = sortedEnds[closed];
      if (opened + 1 < count && sortedStarts[opened + 1] <= to) {
        to = Math.max(sortedStarts[opened], sortedStarts[opened + 1] - 1);
      }
      long nearest = Math.clamp(wanted, sortedStarts[opened], to);
      boolean nearer = Math.abs(nearest - wanted) < Math.abs(best - wanted);
      if (open > most || open == most && nearer) {
        most = open;
        best = nearest;
      }
    }
    return best;
  }

  /** The first and the last k at which the function has the value; null if there is none. */
  static long[] within(
      LongToDoubleFunction at, double target, long from, long to, double first, double other) {
    int direction = first <= other ? 1 : -1;
    if (first == target && other == target) {
      return new long[] {from, to};
    }
    if (direction * (first - target) > 0 || direction * (other - target) < 0) {
      return null;
    }
    long start =
        first == target
            ? from
            : edge(k -> !(direction * (at.applyAsDouble(k) - target) < 0), to, from);
    if (at.applyAsDouble(start) != target) {
      return null;
    }
    long end = other == target ? to : edge(k -> at.applyAsDouble(k) == target, start, to);
    return new long[] {start, end};
  }

  /** The last number that fits, on the way from one that does to one that does not. */
  static long edge(LongPredicate fits, long from, long to) {
    long inside = from;
    long outside = to;
    long middle = middle(inside, outside);
    while (middle != inside && middle != outside) {
      if (fits.test(middle)) {
        inside = middle;
      } else {
        outside = middle;
      }
      middle = middle(inside, outside);
    }
    return inside;
  }

  /** Between two numbers whose difference may overflow. */
  private static long middle(long low, long high) {
    return (low & high) + ((low ^ high) >> 1);
  }
}
