package io.github.rmsnorm4j.internal.norm;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.internal.formula.SumOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Into how many sub-trees rows are cut: what threads need, and arrays have room for. */
class SumsOverRowsTest {
  /** What the Javadoc of {@code Norm.backward} says of gain and bias in float32. */
  @ParameterizedTest
  @CsvSource({"65536, 524288", "131072, 16384", "262144, 2048"})
  void eightThreadsFitInTheRoomForArrays(int width, long rows) {
    assertThat(bytes(width, rows, 8)).isEqualTo(SumArrays.MAX_BYTES);
    assertThat(bytes(width, rows + 1, 8)).isGreaterThan(SumArrays.MAX_BYTES);
  }

  /** Sums of sub-trees, and those that threads are at: one for each level and one that is open. */
  private static long bytes(int width, long rows, int threads) {
    long both = 2 * SumArrays.bytes(width, false);
    int trees = SumsOverRows.maxTrees(both, threads);
    long blocks = rows / SumOrder.ROWS + (rows % SumOrder.ROWS == 0 ? 0 : 1);
    long perTree = 1;
    int levels = 0;
    while (trees * perTree < blocks) {
      perTree *= 2;
      levels++;
    }
    return both * (trees + (long) threads * levels);
  }

  @Test
  void everyThreadHasSomethingToDo() {
    for (int threads = 2; threads <= 32; threads++) {
      long wide = SumArrays.bytes(1 << 24, true);
      assertThat(SumsOverRows.maxTrees(wide, threads)).isEqualTo(2 * threads);
      int most = Math.min(SumsOverRows.MAX_TREES, 8 * threads);
      assertThat(SumsOverRows.maxTrees(0, threads)).isEqualTo(most);
      assertThat(SumsOverRows.maxTrees(1 << 16, threads)).isEqualTo(most);
    }
    assertThat(SumsOverRows.maxTrees(1 << 16, 100)).isEqualTo(SumsOverRows.MAX_TREES);
  }
}
