package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A norm of rows with groups has the bits of norms of the single groups: for each group a norm of
 * strided rows with its part of gain and bias, and where all groups share these one norm of the
 * groups of all rows.
 */
class GroupsTest {
  /** Rows, groups and elements of a group; as many rows as there are blocks of 32, and more. */
  @ParameterizedTest
  @CsvSource({
    "1, 8, 64",
    "5, 8, 64",
    "33, 3, 32",
    "70, 8, 128",
    "9, 1, 100",
    "7, 50, 1",
    "6, 7, 33",
    "40, 5, 31",
    "3, 3, 1025",
    "2, 9, 4096",
    "20, 32, 17",
    "2, 2, 70000",
    "1, 3, 65537"
  })
  void haveTheBitsOfNormsOfTheirOwn(int rows, int groups, int width) {
    boolean many = rows * groups * width > 20_000;
    for (int seed = 0; seed < (many ? 4 : 8); seed++) {
      ElementType type = ElementType.values()[seed % 4];
      try (Arena arena = Arena.ofShared()) {
        GroupCase drawn = new GroupCase(seed, type, rows, groups, width, arena);
        for (Backend backend : Backends.inTurn(Backends.EACH, seed + rows + groups)) {
          drawn.check(backend, 1);
        }
      }
    }
  }

  /** Rows enough that threads pay, shared out anywhere in a row. */
  @ParameterizedTest
  @ValueSource(ints = {3, 7, 8})
  void manyThreadsHaveTheSameBits(int groups) {
    try (Arena arena = Arena.ofShared()) {
      GroupCase drawn = new GroupCase(groups, ElementType.FLOAT32, 3000, groups, 100, arena);
      for (Backend backend : Backends.inTurn(Backends.EACH, groups)) {
        drawn.check(backend, 3);
      }
    }
  }
}
