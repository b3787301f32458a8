package io.github.rmsnorm4j.models.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The arithmetic of the check, beside the library's. */
class ElementsTest {
  /** With an rstd that is 0 ulp from its own, every element is the library's, to the bit. */
  @Test
  void computesWhatTheLibraryComputes() {
    long elements = 0;
    for (int seed = 0; seed < 3000; seed++) {
      Pair pair = new Pair(seed);
      double[][] x = pair.rows(3);
      double[][] residual = pair.residuals(3);
      double[][] y = pair.made(x, residual);
      Sample sample = pair.sample(x, y, residual);
      Types types = sample.types();
      Hypothesis truth = pair.truth(types);
      Parameters parameters = Parameters.of(truth.form(), sample);
      for (int row = 0; row < sample.rows(); row++) {
        PreparedRow prepared =
            PreparedRow.of(truth.form(), types, sample.x(row), sample.residual(row));
        Elements ours = new Elements(truth.form(), prepared, parameters);
        // The check takes an epsilon of 0 as inside; with every step rounded its place matters.
        double scale = ours.scale(new Statistic(pair.part, pair.epsilon, pair.place));
        for (int i = 0; i < pair.width; i++) {
          assertThat(ours.at(i, scale, ours.centre(scale)))
              .describedAs("seed %d: %s", seed, pair)
              .isEqualTo(sample.y(row)[i]);
          elements++;
        }
      }
    }
    assertThat(elements).isGreaterThan(1_000_000);
  }
}
