package io.github.rmsnorm4j;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * Rows of choices, one value of each factor, so that every pair of values of two factors is in some
 * row: a covering array of strength two, drawn greedily. Most faults need no more than two choices
 * to show, and there are far fewer rows than combinations.
 */
public final class CoveringArray {
  /** In a row that is being made: not chosen yet. */
  public static final int OPEN = -1;

  /** Rows that are made for each one that is taken, the one with the most pairs that lack. */
  private static final int CANDIDATES = 12;

  private final int[] sizes;
  private final Predicate<int[]> possible;
  private final SplittableRandom random;

  /** By factor, value, and the same of a later factor: whether no row has them together yet. */
  private final boolean[][][][] lacks;

  private final List<int[]> lacking = new ArrayList<>();

  private CoveringArray(int[] sizes, Predicate<int[]> possible, SplittableRandom random) {
    this.sizes = sizes;
    this.possible = possible;
    this.random = random;
    lacks = new boolean[sizes.length][][][];
    for (int f = 0; f < sizes.length; f++) {
      lacks[f] = new boolean[sizes[f]][sizes.length][];
      for (boolean[][] ofValue : lacks[f]) {
        Arrays.setAll(ofValue, g -> new boolean[sizes[g]]);
      }
    }
  }

  /**
   * Rows with all pairs that any possible row has.
   *
   * @param sizes how many values each factor has
   * @param possible whether a row may be; asked of unfinished rows too, with some factors {@link
   *     #OPEN}, and true of those that could still become possible as far as it can tell
   */
  public static List<int[]> ofPairs(
      int[] sizes, Predicate<int[]> possible, SplittableRandom random) {
    return new CoveringArray(sizes, possible, random).rows();
  }

  private List<int[]> rows() {
    findPairs();
    List<int[]> rows = new ArrayList<>();
    while (!lacking.isEmpty()) {
      int[] best = null;
      for (int i = 0; i < CANDIDATES; i++) {
        int[] row = completed(lacking.get(random.nextInt(lacking.size())));
        best = best == null || pairsThatLack(row) > pairsThatLack(best) ? row : best;
      }
      take(best);
      rows.add(best);
    }
    return rows;
  }

  /** All pairs that a row can have. */
  private void findPairs() {
    for (int f = 0; f < sizes.length; f++) {
      for (int g = f + 1; g < sizes.length; g++) {
        for (int i = 0; i < sizes[f] * sizes[g]; i++) {
          int[] pair = new int[sizes.length];
          Arrays.fill(pair, OPEN);
          pair[f] = i / sizes[g];
          pair[g] = i % sizes[g];
          if (completed(pair) != null) {
            lacking.add(pair);
          }
        }
      }
    }
    lacking.forEach(pair -> set(pair, true));
  }

  private void take(int[] row) {
    set(row, false);
    lacking.removeIf(pair -> pairsThatLack(pair) == 0);
  }

  private void set(int[] row, boolean value) {
    for (int f = 0; f < sizes.length; f++) {
      for (int g = f + 1; g < sizes.length; g++) {
        if (row[f] != OPEN && row[g] != OPEN) {
          lacks[f][row[f]][g][row[g]] = value;
        }
      }
    }
  }

  private int pairsThatLack(int[] row) {
    int pairs = 0;
    for (int f = 0; f < sizes.length; f++) {
      pairs += pairsThatLack(row, f);
    }
    return pairs / 2;
  }

  /** With one factor's value. */
  private int pairsThatLack(int[] row, int factor) {
    int pairs = 0;
    for (int other = 0; other < sizes.length; other++) {
      if (other != factor && row[factor] != OPEN && row[other] != OPEN) {
        int first = Math.min(factor, other);
        int second = Math.max(factor, other);
        pairs += lacks[first][row[first]][second][row[second]] ? 1 : 0;
      }
    }
    return pairs;
  }

  /** A whole row of one that is open in places; null where there is none. */
  private int[] completed(int[] open) {
    int[] row = open.clone();
    return complete(row) ? row : null;
  }

  /**
   * Next the factor with the fewest values left, or there would be long ways to a dead end; of its
   * values first those with the most pairs that lack.
   */
  private boolean complete(int[] row) {
    int factor = OPEN;
    int[] values = null;
    for (int open : shuffled(sizes.length)) {
      if (row[open] == OPEN) {
        int[] left = valuesLeft(row, open);
        if (values == null || left.length < values.length) {
          factor = open;
          values = left;
        }
      }
    }
    if (values == null) {
      return possible.test(row);
    }
    for (int value : values) {
      row[factor] = value;
      if (complete(row)) {
        return true;
      }
    }
    row[factor] = OPEN;
    return false;
  }

  private int[] valuesLeft(int[] row, int factor) {
    int[] pairs = new int[sizes[factor]];
    int[] left =
        Arrays.stream(shuffled(sizes[factor]))
            .filter(
                value -> {
                  row[factor] = value;
                  pairs[value] = pairsThatLack(row, factor);
                  return possible.test(row);
                })
            .boxed()
            .sorted((a, b) -> pairs[b] - pairs[a])
            .mapToInt(value -> value)
            .toArray();
    row[factor] = OPEN;
    return left;
  }

  private int[] shuffled(int n) {
    int[] order = new int[n];
    for (int i = 0; i < n; i++) {
      int j = random.nextInt(i + 1);
      order[i] = order[j];
      order[j] = i;
    }
    return order;
  }
}
