package io.github.rmsnorm4j.models.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuantilesTest {
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void areThoseOfTheSortedValues(long seed) {
    Random random = new Random(seed);
    double[] values = new double[1 + random.nextInt(1000)];
    Arrays.setAll(values, i -> Math.exp(30 * random.nextGaussian()));
    Quantiles quantiles = new Quantiles();
    Arrays.stream(values).forEach(quantiles::add);
    Arrays.sort(values);
    for (double fraction : new double[] {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1}) {
      double rank = fraction * (values.length - 1);
      int below = (int) rank;
      double upper = values[Math.min(below + 1, values.length - 1)];
      double expected = values[below] + (rank - below) * (upper - values[below]);
      assertThat(quantiles.at(fraction, value -> value))
          .describedAs("seed %d, %s", seed, fraction)
          .isCloseTo(expected, withinPercentage(1e-9));
    }
    assertThat(quantiles.at(0, value -> value)).isEqualTo(values[0]);
    assertThat(quantiles.at(1, value -> value)).isEqualTo(values[values.length - 1]);
    assertThat(quantiles.count()).isEqualTo(values.length);
  }

  @Test
  void ofTwoValuesTheMedianLiesBetweenThem() {
    Quantiles quantiles = new Quantiles();
    quantiles.add(3);
    quantiles.add(1);
    assertThat(quantiles.at(0.5, value -> value)).isEqualTo(2);
    assertThat(quantiles.at(0.5, value -> value * value)).isEqualTo(5);
  }

  @ParameterizedTest
  @ValueSource(ints = {Quantiles.EXACT, Quantiles.EXACT + 1, 3 * Quantiles.EXACT})
  void ofManyValuesAreThoseOfTheNearestRank(int count) {
    double[] values = new Random(6).doubles(count).map(v -> 1 + v).toArray();
    Quantiles quantiles = new Quantiles();
    Arrays.stream(values).forEach(quantiles::add);
    Arrays.sort(values);
    for (double fraction : new double[] {0.05, 0.5, 0.95}) {
      double expected = values[(int) Math.round(fraction * (count - 1))];
      assertThat(quantiles.at(fraction, value -> value)).isCloseTo(expected, withinPercentage(0.1));
    }
    assertThat(quantiles.at(0, value -> value)).isEqualTo(values[0]);
    assertThat(quantiles.at(1, value -> value)).isEqualTo(values[count - 1]);
    assertThat(quantiles.count()).isEqualTo(count);
  }

  @Test
  void areExactForEqualValues() {
    Quantiles quantiles = new Quantiles();
    for (int i = 0; i < 10; i++) {
      quantiles.add(i < 3 ? 1 : i < 7 ? 3 : 5);
    }
    assertThat(quantiles.at(0.5, value -> value)).isEqualTo(3);
  }

  @Test
  void holdAnyNumberThatIsNotNegative() {
    Quantiles quantiles = new Quantiles();
    for (double value : new double[] {0, 0, Double.MIN_VALUE, 1, Double.MAX_VALUE}) {
      quantiles.add(value);
    }
    assertThat(quantiles.at(0, value -> value)).isZero();
    assertThat(quantiles.at(0.75, value -> value)).isCloseTo(1, withinPercentage(0.1));
    assertThat(quantiles.at(1, value -> value)).isEqualTo(Double.MAX_VALUE);
  }
}
