package io.github.rmsnorm4j.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.bench.DecodeTable.Column;
import io.github.rmsnorm4j.bench.DecodeTable.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DecodeTableTest {
  /** Two norms a token, 110 tokens: the first takes 40 ms, those to 10 20, to 100 4, then 2. */
  private static Times times(double factor) {
    List<String> lines = new ArrayList<>(List.of(nanos(3 * factor), nanos(1000 * factor)));
    for (int token = 1; token <= 110; token++) {
      double ms = token == 1 ? 40 : token <= 10 ? 20 : token <= 100 ? 4 : 2;
      lines.add(nanos(factor * ms / 4));
      lines.add(nanos(factor * ms * 3 / 4));
    }
    return Times.of(lines, 2);
  }

  private static String nanos(double milliseconds) {
    return String.valueOf(Math.round(1e6 * milliseconds));
  }

  private static double figure(Column column) {
    List<Times> loop = List.of(times(1), times(2), times(4));
    List<Times> own = List.of(times(0.5), times(0.5), times(4));
    return DecodeTable.figure(column, own, loop);
  }

  @Test
  void multiplesAreOfTheLoopInTheSameRound() {
    for (Column column : Column.values()) {
      double median = column == Column.BUILDING ? 1.5 : column == Column.LONGEST ? 7.5 : 0.5;
      assertThat(figure(column)).as("0.5, 0.25 and 1: %s", column).isEqualTo(median);
    }
  }

  @Test
  void linesHaveTheTimesOfTheLoopAndTheMultiples() {
    List<Times> loop = List.of(times(1));
    List<String> lines =
        DecodeTable.lines("RMSNorm", loop, Map.of("without flags", List.of(times(0.5))));
    assertThat(words(lines.get(0)))
        .isEqualTo("RMSNorm building token 1 2-10 11-100 2-100 101- all processor longest");
    // All: 3 + 40 + 9 * 20 + 90 * 4 + 10 * 2.
    assertThat(words(lines.get(1)))
        .isEqualTo("plain loop, ms 3.00 40.0 20.0 4.00 5.45 2.00 603 1000 15.0");
    assertThat(words(lines.get(2)))
        .isEqualTo("without flags 1.50 0.50 0.50 0.50 0.50 0.50 0.50 0.50 7.50");
    assertThat(lines).hasSize(3);
  }

  private static String words(String line) {
    return line.strip().replaceAll(" +", " ");
  }
}
