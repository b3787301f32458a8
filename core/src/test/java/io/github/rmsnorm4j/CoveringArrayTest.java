package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CoveringArrayTest {
  private static final int[] SIZES = {5, 2, 3, 2, 4, 3};

  /** Value 1 of the second factor goes with value 0 of the first alone; no row is all zeros. */
  private static boolean isPossible(int[] row) {
    boolean alone = row[1] != 1 || row[0] <= 0;
    boolean zeros = true;
    for (int value : row) {
      zeros &= value == 0;
    }
    return alone && !zeros;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void everyPairThatIsPossibleOccurs(long seed) {
    List<int[]> rows = drawn(seed, CoveringArrayTest::isPossible);
    Set<List<Integer>> wanted = new HashSet<>();
    int all = 1;
    for (int size : SIZES) {
      all *= size;
    }
    for (int i = 0; i < all; i++) {
      int[] row = new int[SIZES.length];
      int rest = i;
      for (int f = 0; f < row.length; f++) {
        row[f] = rest % SIZES[f];
        rest /= SIZES[f];
      }
      if (isPossible(row)) {
        wanted.addAll(pairs(row));
      }
    }
    Set<List<Integer>> found = new HashSet<>();
    rows.forEach(row -> found.addAll(pairs(row)));
    assertThat(rows).allMatch(CoveringArrayTest::isPossible);
    assertThat(found).isEqualTo(wanted);
    assertThat(rows).hasSizeBetween(5 * 4, 2 * 5 * 4);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void oneSeedGivesTheSameRows(long seed) {
    assertThat(drawn(seed, row -> true)).containsExactlyElementsOf(drawn(seed, row -> true));
  }

  private static List<int[]> drawn(long seed, Predicate<int[]> possible) {
    return CoveringArray.ofPairs(SIZES, possible, new SplittableRandom(seed));
  }

  private static Set<List<Integer>> pairs(int[] row) {
    Set<List<Integer>> pairs = new HashSet<>();
    for (int f = 0; f < row.length; f++) {
      for (int g = f + 1; g < row.length; g++) {
        pairs.add(List.of(f, row[f], g, row[g]));
      }
    }
    return pairs;
  }
}
