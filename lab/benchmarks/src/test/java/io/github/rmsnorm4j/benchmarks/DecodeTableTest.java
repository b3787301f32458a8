package io.github.rmsnorm4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.benchmarks.DecodeResults.Call;
import io.github.rmsnorm4j.benchmarks.DecodeResults.Start;
import io.github.rmsnorm4j.benchmarks.DecodeTable.Column;
import io.github.rmsnorm4j.benchmarks.DecodeTable.Times;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

  private static Start start(String title, double... factors) {
    return new Start(
        title, Arrays.stream(factors).mapToObj(factor -> times(factor).columns()).toList());
  }

  private static double figure(Column column) {
    Start loop = start("plain loop", 1, 2, 4);
    return DecodeTable.figure(column, start("without flags", 0.5, 0.5, 4), loop);
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
    Call call = new Call("RMSNorm", List.of(start("plain loop", 1), start("without flags", 0.5)));
    List<String> lines = DecodeTable.lines(call);
    assertThat(words(lines.get(0)))
        .isEqualTo("RMSNorm building token 1 2-10 11-100 2-100 101- all processor longest");
    // All: 3 + 40 + 9 * 20 + 90 * 4 + 10 * 2.
    assertThat(words(lines.get(1)))
        .isEqualTo("plain loop, ms 3.00 40.0 20.0 4.00 5.45 2.00 603 1000 15.0");
    assertThat(words(lines.get(2)))
        .isEqualTo("without flags 1.50 0.50 0.50 0.50 0.50 0.50 0.50 0.50 7.50");
    assertThat(lines).hasSize(3);
  }

  @Test
  void onlySomeKindsOrAnotherWidth() {
    assertThat(Decode.kinds(0, "")).hasSize(11);
    assertThat(Decode.kinds(0, "LayerNorm")).singleElement();
    assertThat(Decode.kinds(64, "RMSNorm")).hasSizeLessThan(10).isNotEmpty();
    assertThat(Decode.kinds(0, "GroupNorm")).isEmpty();
  }

  private static String words(String line) {
    return line.strip().replaceAll(" +", " ");
  }
}
