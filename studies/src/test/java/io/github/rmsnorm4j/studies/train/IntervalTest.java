package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class IntervalTest {
  /** By hand: deviation 1, t of 2 degrees of freedom 4.3027, over the root of 3. */
  @Test
  void isStudentsTimesTheStandardError() {
    Interval interval = Interval.of(1, 2, 3);
    assertThat(interval.mean()).isEqualTo(2);
    assertThat(interval.deviation()).isEqualTo(1);
    assertThat(interval.low()).isCloseTo(2 - 2.48414, within(1e-4));
    assertThat(interval.high()).isCloseTo(2 + 2.48414, within(1e-4));
    assertThat(interval.excludesZero()).isFalse();
    assertThat(Interval.of(-3, -3.1, -2.9).excludesZero()).isTrue();
    assertThat(Interval.of(3, 3.1, 2.9).excludesZero()).isTrue();
  }

  @Test
  void ofFewerThanTwoThereIsNone() {
    assertThat(Interval.of(5).mean()).isEqualTo(5);
    assertThat(Interval.of(5).excludesZero()).isFalse();
    assertThat(Interval.of().mean()).isNaN();
  }

  /** Of normal values it holds the true mean 19 times in 20. */
  @Test
  void coversTheMeanAsOftenAsItSays() {
    for (int n : new int[] {2, 3, 5, 10, 40}) {
      SplittableRandom random = new SplittableRandom(n);
      int covered = 0;
      for (int i = 0; i < 20_000; i++) {
        double[] values = new double[n];
        for (int j = 0; j < n; j++) {
          values[j] = random.nextGaussian();
        }
        covered += Interval.of(values).excludesZero() ? 0 : 1;
      }
      assertThat(covered / 20_000.0).as("n = %d", n).isBetween(0.94, 0.96);
    }
  }
}
