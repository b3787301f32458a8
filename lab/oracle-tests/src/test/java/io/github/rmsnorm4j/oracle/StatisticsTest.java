package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.oracle.CaseGenerator.Distribution;
import io.github.rmsnorm4j.oracle.CaseGenerator.Parameters;
import io.github.rmsnorm4j.oracle.NormCase.Statistics;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The mean and rstd that training keeps, against libtorch's in float64. */
class StatisticsTest {
  @BeforeAll
  static void requireLibtorch() {
    Libtorch.require();
  }

  @ParameterizedTest
  @EnumSource
  void meanAndRstd(ElementType type) {
    int seed = 9000;
    for (int width : new int[] {1, 2, 3, 32, 33, 1000, 4096, 65536}) {
      for (double offset : new double[] {0, 1, 100}) {
        for (boolean centred : new boolean[] {false, true}) {
          Distribution of = new Distribution(2, offset);
          assertStatistics(
              new CaseGenerator(seed++).draw(centred, type, Parameters.NONE, 3, width, 1e-5, of));
        }
      }
    }
  }

  /**
   * Both add in float64, in different orders: a few dozen roundings of the largest term at most.
   * The error that this leaves in a mean comes back in rstd in proportion to mean * rstd. Where the
   * arithmetic is float32 rstd is rounded to it.
   */
  private static void assertStatistics(NormCase norm) {
    Statistics ours = norm.statistics();
    Statistics libtorch = Libtorch.statistics(norm);
    double largest = Arrays.stream(norm.x()).map(Math::abs).max().orElseThrow();
    double rounding = norm.type() == ElementType.FLOAT64 ? 0 : 0x1p-24;
    for (int row = 0; row < norm.rows(); row++) {
      double mean = libtorch.mean()[row];
      double rstd = libtorch.rstd()[row];
      assertThat(ours.mean()[row])
          .as("mean of row %d of %s", row, norm)
          .isCloseTo(mean, within(32 * 0x1p-53 * largest));
      assertThat(ours.rstd()[row])
          .as("rstd of row %d of %s", row, norm)
          .isCloseTo(rstd, within(rstd * (rounding + 0x1p-53 * (32 + 8 * Math.abs(mean) * rstd))));
    }
  }
}
