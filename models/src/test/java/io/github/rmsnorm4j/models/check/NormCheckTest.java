package io.github.rmsnorm4j.models.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class NormCheckTest {
  private static final boolean ALL_DRAWS = Boolean.getBoolean("tests.all");
  private static final int PAIRS = ALL_DRAWS ? 1000 : 60;

  /** Of norms with a part or epsilon that no list has, and of rows that no norm made. */
  private static final int OTHERS = ALL_DRAWS ? 200 : 20;

  /** Of every norm that the library can make: it is named, so no other is named alone. */
  @Test
  void namesTheTrueNorm() {
    Map<String, Integer> reached = new TreeMap<>();
    for (int seed = 0; seed < PAIRS; seed++) {
      Pair pair = new Pair(seed);
      int rows = 1 + pair.random.nextInt(24);
      double[][] x = pair.rows(rows);
      double[][] residual = pair.residuals(rows);
      assertNamed(seed, pair, pair.sample(x, pair.made(x, residual), residual), reached);
    }
    // Both happen often, and every value of every choice was tried; of a list with all draws.
    assertThat(reached.get("RECOGNIZED")).isGreaterThan(PAIRS / 15);
    assertThat(reached.get("CANNOT_TELL")).isGreaterThan(PAIRS / 15);
    assertReached(reached, "x ", (Object[]) ElementType.values());
    assertReached(reached, "y ", (Object[]) ElementType.values());
    assertReached(reached, "gain ", (Object[]) ElementType.values());
    assertReached(reached, "order ", (Object[]) CastOrder.values());
    assertReached(reached, "place ", (Object[]) EpsilonPlacement.values());
    assertReached(reached, "residual ", (Object[]) ResidualRounding.values());
    assertReached(reached, "kind ", (Object[]) NormSpec.Kind.values());
    assertReached(reached, "", "gain null", "residual null", "bias", "partial", "groups");
    if (ALL_DRAWS) {
      assertReached(reached, "eps ", Pair.EPSILONS.toArray());
      assertReached(reached, "offset ", Shapes.OFFSETS.toArray());
    }
  }

  /** Written in float32 as other systems do, with sums in three orders. */
  @Test
  void namesTheTrueNormOfOtherSums() {
    Map<String, Integer> reached = new TreeMap<>();
    int written = 0;
    for (int seed = 0; written < PAIRS / 2; seed++) {
      Pair pair = new Pair(seed);
      if (pair.isWritten()) {
        int rows = 1 + pair.random.nextInt(24);
        double[][] x = pair.rows(rows);
        assertNamed(seed, pair, pair.sample(x, pair.written(x, seed % 3), null), reached);
        written++;
      }
    }
    assertThat(reached.get("RECOGNIZED")).isGreaterThan(PAIRS / 30);
    assertThat(reached.get("moved")).isGreaterThan(PAIRS / 6);
    assertReached(reached, "kind ", (Object[]) NormSpec.Kind.values());
    assertReached(reached, "", "bias", "partial", "groups", "order DIVIDED", "order ONNX");
  }

  private static void assertNamed(
      int seed, Pair pair, Sample sample, Map<String, Integer> reached) {
    CheckReport report = new NormCheck(sample, List.of()).run();
    assertThat(report.named())
        .describedAs("seed %d, %d rows: %s; %s", seed, sample.rows(), pair, report.verdict())
        .anyMatch(pair::isTruth);
    Finding first = report.named().getFirst();
    reached.merge("" + report.status(), 1, Integer::sum);
    reached.merge(first.ownEqual() < first.elements() ? "moved" : "own", 1, Integer::sum);
    pair.choices().forEach(value -> reached.merge(value, 1, Integer::sum));
  }

  private static void assertReached(Map<String, Integer> reached, String choice, Object... values) {
    Arrays.stream(values).forEach(value -> assertThat(reached).containsKey(choice + value));
  }

  /** An epsilon of one digit that is in no list, unless rows hide it. */
  @Test
  void solvesForEpsilon() {
    int drawn = 0;
    int alone = 0;
    for (int seed = 0; drawn < OTHERS; seed++) {
      Pair pair = new Pair(seed, (2 + seed % 8) * Math.pow(10, -3 - seed % 3), null);
      if (pair.everyStep()) {
        continue;
      }
      drawn++;
      pair.scale = 0.02;
      double[][] x = pair.rows(8);
      double[][] residual = pair.residuals(8);
      CheckReport report =
          new NormCheck(pair.sample(x, pair.made(x, residual), residual), List.of()).run();
      assertThat(report.named())
          .describedAs("seed %d: %s; %s", seed, pair, report.verdict())
          .anyMatch(
              norm -> norm.epsilon() == 0 || Math.abs(norm.epsilon() / pair.epsilon - 1) < 1e-9);
      alone += report.named().stream().noneMatch(norm -> norm.epsilon() == 0) ? 1 : 0;
    }
    assertThat(alone).isGreaterThan(OTHERS / 4);
  }

  /** A part of no list is found where it is asked for. */
  @Test
  void triesThePartThatIsAskedFor() {
    int named = 0;
    for (int seed = 0; seed < OTHERS; seed++) {
      Pair pair = new Pair(seed, null, 0.37);
      if (pair.part == pair.width) {
        continue;
      }
      pair.scale = 1; // Small rows would hide the part behind epsilon.
      double[][] x = pair.rows(8);
      double[][] residual = pair.residuals(8);
      Sample sample = pair.sample(x, pair.made(x, residual), residual);
      assertThat(new NormCheck(sample, List.of(0.37)).run().named())
          .describedAs("seed %d: %s", seed, pair)
          .anyMatch(norm -> norm.part() == pair.part);
      named++;
    }
    assertThat(named).isGreaterThan(OTHERS / 4);
  }

  /** Rows that no norm made, and a norm's with noise. */
  @Test
  void namesNothingForNoNorm() {
    for (int seed = 0; seed < OTHERS; seed++) {
      Pair pair = new Pair(seed);
      double[][] x = pair.rows(6);
      double[][] residual = pair.residuals(6);
      double[][] y = pair.made(x, residual);
      double[][] random = TypedRows.random(pair.random, 6, pair.width, 0, 1, pair.y);
      for (double[] row : y) {
        for (int i = 0; i < row.length; i++) {
          double noise = 1 + 0.05 * pair.random.nextGaussian();
          row[i] = pair.y.round(row[i] * noise);
        }
      }
      for (double[][] wrong : List.of(random, y)) {
        CheckReport report = new NormCheck(pair.sample(x, wrong, residual), List.of()).run();
        assertThat(report.status())
            .describedAs("seed %d: %s; %s", seed, pair, report.verdict())
            .isEqualTo(CheckReport.Status.UNKNOWN);
        assertThat(report.others()).isNotEmpty();
        assertThat(report.verdict().getFirst()).startsWith("None of the norms known here");
      }
    }
  }
}
