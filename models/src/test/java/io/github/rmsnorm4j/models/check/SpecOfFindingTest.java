package io.github.rmsnorm4j.models.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A finding's text makes the norm that was found. */
class SpecOfFindingTest {
  private static final int PAIRS = Boolean.getBoolean("tests.all") ? 200 : 40;

  /**
   * Of drawn norms of the library: some named norm has a text, and each text whose norm needs no
   * other rstd makes every element of Y.
   */
  @Test
  void theTextMakesY() {
    int made = 0;
    int whole = 0;
    for (int seed = 0; seed < PAIRS; seed++) {
      Pair pair = new Pair(seed);
      int rows = 1 + pair.random.nextInt(8);
      double[][] x = pair.rows(rows);
      double[][] residual = pair.residuals(rows);
      double[][] y = pair.made(x, residual);
      Sample sample = pair.sample(x, y, residual);
      CheckReport report = new NormCheck(sample, List.of()).run();
      List<Finding> texts =
          report.named().stream()
              .filter(norm -> norm.spec() != null && norm.ownEqual() == norm.elements())
              .toList();
      assertThat(texts).describedAs("seed %d: %s; %s", seed, pair, report.verdict()).isNotEmpty();
      for (Finding norm : texts.subList(0, Math.min(4, texts.size()))) {
        NormSpec spec = NormSpec.parse(norm.spec());
        assertThat(pair.made(spec, x, residual))
            .describedAs("seed %d: %s; %s", seed, pair, spec)
            .isDeepEqualTo(y);
        made++;
      }
      String first = "normalize --like '" + texts.getFirst().spec() + "' computes these";
      assertThat(report.verdict()).anyMatch(sentence -> sentence.startsWith(first));
      whole += report.named().getFirst() == texts.getFirst() ? 1 : 0;
    }
    assertThat(made).isGreaterThan(PAIRS);
    assertThat(whole).isGreaterThan(PAIRS / 2);
  }
}
