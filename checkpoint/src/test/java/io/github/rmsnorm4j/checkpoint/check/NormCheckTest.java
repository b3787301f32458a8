package io.github.rmsnorm4j.checkpoint.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class NormCheckTest {
  private static final int PAIRS = 1000;

  /** Of every norm that the library can make: it is named, and never another one alone. */
  @Test
  void namesTheTrueNorm() {
    Map<CheckReport.Status, Integer> counts = new TreeMap<>();
    Map<String, Integer> reached = new TreeMap<>();
    long start = System.nanoTime();
    for (int seed = 0; seed < PAIRS; seed++) {
      Pair pair = new Pair(seed);
      int rows = 1 + pair.random.nextInt(24);
      double[][] x = pair.rows(rows);
      Sample sample = pair.sample(x, pair.residuals(rows));
      if (sample.rows() == 0) {
        counts.merge(CheckReport.Status.UNKNOWN, 1, Integer::sum);
        continue;
      }
      NormCheck check = new NormCheck(sample, List.of());
      CheckReport report = check.run(() -> {});
      Types types = sample.types();
      if (seed < 60) {
        System.out.println(seed + " " + pair + " rows " + rows + " " + report.verdict());
      }
      assertThat(check.named())
          .describedAs("seed %d, %d rows: %s; %s", seed, rows, pair, report.verdict())
          .anyMatch(norm -> pair.isTruth(norm, types));
      counts.merge(report.status(), 1, Integer::sum);
      if (report.status() == CheckReport.Status.RECOGNISED) {
        List.of(
                "x " + pair.x,
                "y " + pair.y,
                "" + pair.order,
                "eps " + pair.epsilon,
                "" + pair.place)
            .forEach(value -> reached.merge(value, 1, Integer::sum));
      }
    }
    System.out.println(counts + " " + reached + " " + (System.nanoTime() - start) / 1e9);
  }
}
