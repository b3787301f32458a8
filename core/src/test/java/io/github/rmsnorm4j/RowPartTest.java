package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.reference.Definitions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How many elements a share of a row has. */
class RowPartTest {
  /**
   * Rounded up shares are decimals; rounded down they are float64 numbers, as in the published
   * code: there 100 * 0.07 is above 7, and 100 * 0.29 below 29.
   */
  @ParameterizedTest
  @CsvSource({
    "512, 0.0625, 32, 32",
    "100, 0.0625, 7, 6",
    "100, 0.07, 7, 7",
    "100, 0.29, 29, 28",
    "10, 0.3, 3, 3",
    "1000, 0.001, 1, 1",
    "1000, 0.57, 570, 570",
    "10, 0.31, 4, 3",
    "3, 1, 3, 3",
    "4, 4.9e-324, 1, 0"
  })
  void shares(int width, double p, int up, int down) {
    assertThat(partOf(RmsNorm.builder(width).partial(p))).isEqualTo(up);
    if (down > 0) {
      assertThat(partOf(RmsNorm.builder(width).partialRoundedDown(p))).isEqualTo(down);
    }
    assertThat(Definitions.part(width, p)).isEqualTo(up);
    assertThat(Definitions.partOfPublishedCode(width, p)).isEqualTo(down);
  }

  /** Seen from outside: of a row 1, 2, 3, ... every part has a mean square of its own. */
  private static int partOf(RmsNorm.Builder builder) {
    RmsNorm norm = builder.epsilon(0).build();
    double[] x = new double[norm.width()];
    for (int i = 0; i < x.length; i++) {
      x[i] = i + 1;
    }
    double[] rstd = new double[1];
    norm.apply(Rows.of(x, x.length), Rows.of(new double[x.length], x.length), rstd);
    for (int k = 1; k <= x.length; k++) {
      if (Math.abs(rstd[0] * Math.sqrt(Definitions.meanSquare(x, k)) - 1) < 1e-12) {
        return k;
      }
    }
    return 0;
  }
}
