package io.github.rmsnorm4j.models.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class NormCheckTest {
  private static final boolean ALL_DRAWS = Boolean.getBoolean("tests.all");
  private static final int PAIRS = ALL_DRAWS ? 1500 : 80;

  private static final int PROBES = ALL_DRAWS ? 150 : 20;

  /** Of norms with a part that no table has, and of rows that no norm made. */
  private static final int OTHERS = ALL_DRAWS ? 200 : 40;

  /** Of every norm that the library can make: it is named, so no other is named alone. */
  @Test
  void namesTheTrueNorm() {
    Map<CheckReport.Status, Integer> counts = new TreeMap<>();
    Map<String, Integer> reached = new TreeMap<>();
    for (int seed = 0; seed < PAIRS; seed++) {
      Pair pair = new Pair(seed);
      int rows = 1 + pair.random.nextInt(24);
      Sample sample = pair.sample(pair.rows(rows), pair.residuals(rows));
      if (sample.rows() == 0) {
        continue;
      }
      NormCheck check = new NormCheck(sample, List.of());
      CheckReport report = check.run(() -> {});
      Types types = sample.types();
      assertThat(check.named())
          .describedAs("seed %d, %d rows: %s; %s", seed, rows, pair, report.verdict())
          .anyMatch(norm -> pair.isTruth(norm, types));
      counts.merge(report.status(), 1, Integer::sum);
      pair.choices().forEach(value -> reached.merge(value, 1, Integer::sum));
    }
    // Both happen often, and every value of every choice was tried; of a table with all draws.
    assertThat(counts.get(CheckReport.Status.RECOGNISED)).isGreaterThan(PAIRS / 15);
    assertThat(counts.get(CheckReport.Status.CANNOT_TELL)).isGreaterThan(PAIRS / 15);
    assertThat(counts).doesNotContainKey(CheckReport.Status.UNKNOWN);
    assertReached(reached, "x ", (Object[]) ElementType.values());
    assertReached(reached, "y ", (Object[]) ElementType.values());
    assertReached(reached, "gain ", (Object[]) ElementType.values());
    assertReached(reached, "order ", (Object[]) CastOrder.values());
    assertReached(reached, "place ", (Object[]) EpsilonPlacement.values());
    assertReached(reached, "residual ", (Object[]) ResidualRounding.values());
    assertReached(reached, "", "gain null", "residual null", "LayerNorm", "bias", "partial");
    if (ALL_DRAWS) {
      assertReached(reached, "eps ", Hypotheses.EPSILONS.toArray());
      assertReached(reached, "offset ", Hypotheses.OFFSETS.toArray());
    }
  }

  private static void assertReached(Map<String, Integer> reached, String choice, Object... values) {
    Arrays.stream(values).forEach(value -> assertThat(reached).containsKey(choice + value));
  }

  /** A probe tells what it says: of the norms that were named only those remain that it left. */
  @Test
  void aProbeTellsNormsApart() {
    int told = 0;
    for (int seed = 0; seed < PROBES; seed++) {
      Pair pair = new Pair(seed);
      Sample sample = pair.sample(pair.rows(4), pair.residuals(4));
      if (sample.rows() == 0) {
        continue;
      }
      NormCheck first = new NormCheck(sample, List.of());
      if (first.run(() -> {}).status() != CheckReport.Status.CANNOT_TELL
          || first.named().size() > 24) {
        continue;
      }
      Probe probe = first.probe();
      double[][] x = probe.x().toArray(double[][]::new);
      double[][] residual = pair.residual ? probe.residual().toArray(double[][]::new) : null;
      Sample second = pair.sample(x, residual);
      NormCheck again = new NormCheck(second, List.of());
      again.run(() -> {});
      Types types = sample.types();
      int width = pair.width;
      Hypothesis truth =
          first.named().stream()
              .filter(norm -> pair.isTruth(norm, types))
              .findFirst()
              .orElseThrow();
      for (Hypothesis other : first.named()) {
        boolean remains =
            again.named().stream()
                .anyMatch(
                    norm ->
                        norm.form().equals(other.form())
                            && norm.statistic().equals(other.statistic()));
        String one = truth.words(types, width) + " / " + other.words(types, width);
        String two = other.words(types, width) + " / " + truth.words(types, width);
        boolean left = probe.untold().contains(one) || probe.untold().contains(two);
        if (other == truth) {
          assertThat(remains).describedAs("seed %d: %s", seed, pair).isTrue();
        } else if (!left) {
          assertThat(remains).describedAs("seed %d: %s; %s", seed, pair, two).isFalse();
          told++;
        }
      }
    }
    assertThat(told).isGreaterThan(PROBES * 2 / 3);
  }

  /** An epsilon of no table: it is within the interval that is reported. */
  @Test
  void solvesForEpsilon() {
    int solved = 0;
    int byPlaceAlone = 0;
    for (int seed = 0; seed < 100; seed++) {
      Pair pair = new Pair(seed, 1e-2 * Math.pow(0.5, seed % 12) * 0.77, null);
      pair.scale = 0.05;
      Sample sample = pair.sample(pair.rows(8), pair.residuals(8));
      CheckReport report = new NormCheck(sample, List.of()).run(() -> {});
      assertThat(report.named()).describedAs("seed %d: %s", seed, pair).isNotEmpty();
      boolean within =
          report.named().stream()
              .anyMatch(norm -> Math.abs(norm.epsilon() / pair.epsilon - 1) < 0.2);
      boolean first =
          report.leastEpsilon() <= pair.epsilon && pair.epsilon <= report.greatestEpsilon();
      // Several places may fit, each with another epsilon; the interval is that of the first.
      String place = pair.place.name().toLowerCase(Locale.ROOT);
      boolean elsewhere = !report.named().getFirst().epsilonAt().equals(place);
      boolean fits = within || first || report.leastEpsilon() == 0;
      assertThat(fits || elsewhere)
          .describedAs("seed %d: %s; %s", seed, pair, report.verdict())
          .isTrue();
      solved += within ? 1 : 0;
      byPlaceAlone += fits ? 0 : 1;
    }
    assertThat(solved).isGreaterThan(50);
    assertThat(byPlaceAlone).isLessThanOrEqualTo(1);
  }

  /** A part of no table, and one that was asked for. */
  @Test
  void solvesForThePart() {
    int solved = 0;
    for (int seed = 0; seed < OTHERS; seed++) {
      Pair pair = new Pair(seed, null, 0.37);
      // A root with the few digits of a 16-bit type hides the part.
      if (pair.layer || pair.everyStep()) {
        continue;
      }
      pair.scale = 1; // Small rows would hide the part behind epsilon.
      Sample sample = pair.sample(pair.rows(8), pair.residuals(8));
      CheckReport report = new NormCheck(sample, List.of()).run(() -> {});
      assertThat(report.named())
          .describedAs("seed %d: %s; %s", seed, pair, report.verdict())
          .anyMatch(norm -> norm.part() == pair.part);
      solved++;
      assertThat(new NormCheck(sample, List.of(0.37)).run(() -> {}).named())
          .describedAs("seed %d: %s", seed, pair)
          .anyMatch(norm -> norm.part() == pair.part);
    }
    assertThat(solved).isGreaterThan(OTHERS / 3);
  }

  /** Rows that no norm made, and a norm's with noise. */
  @Test
  void namesNothingForNoNorm() {
    for (int seed = 0; seed < OTHERS; seed++) {
      Pair pair = new Pair(seed);
      double[][] x = pair.rows(6);
      double[][] residual = pair.residuals(6);
      double[][] y = pair.made(x, residual);
      if (pair.sample(x, y, residual).rows() == 0) {
        continue;
      }
      double[][] random = TypedRows.random(pair.random, 6, pair.width, 0, 1, pair.y);
      for (double[] row : y) {
        for (int i = 0; i < row.length; i++) {
          double noise = 1 + 0.05 * pair.random.nextGaussian();
          row[i] = pair.y.round(row[i] * noise);
        }
      }
      for (double[][] wrong : List.of(random, y)) {
        CheckReport report =
            new NormCheck(pair.sample(x, wrong, residual), List.of()).run(() -> {});
        assertThat(report.status())
            .describedAs("seed %d: %s; %s", seed, pair, report.verdict())
            .isEqualTo(CheckReport.Status.UNKNOWN);
        assertThat(report.others()).isNotEmpty();
        assertThat(report.verdict().getFirst()).startsWith("None of the norms known here");
      }
    }
  }
}
