package io.github.rmsnorm4j.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class TerminalTextTest {
  @Test
  void aNarrowTableStaysATable() {
    assertThat(
            TerminalText.of(
                """
                ### A machine

                | times | 1 x 8 |
                | --- | ---: |
                | ours | 1.25 µs |
                | `theirs` | **400 µs** |
                """))
        .containsExactly(
            "A machine", //
            "",
            "times        1 x 8",
            "ours       1.25 µs",
            "theirs  400 µs (!)");
  }

  @Test
  void aWideTableOfFewColumnsGoesRowByRow() {
    String name = "one system against another ".repeat(3).strip();
    assertThat(
            TerminalText.of(
                "| target | limit | got |\n| --- | --- | --- |\n| " + name + " | 1 | **2** |"))
        .containsExactly(
            "target",
            "  one system against another one system against another one system against",
            "  another",
            "      limit: 1; got: 2 (!)");
  }

  @Test
  void aWideTableOfManyColumnsGoesColumnByColumn() {
    String wide = "0123456789".repeat(4);
    assertThat(
            TerminalText.of(
                "| t | %s | b | c | d |\n| --- |\n| x | %s | %s | | 4 |\n| long | 5 | %s | 7 | 8 |"
                    .formatted(wide, wide, wide, wide)))
        .containsExactly(
            "t: " + wide,
            "  x     " + wide,
            "  long  5",
            "",
            "t: b",
            "  x     " + wide,
            "  long  " + wide,
            "",
            "t: c",
            "  long  7",
            "",
            "t: d",
            "  x     4",
            "  long  8",
            "");
  }

  /** Every figure of every run that is kept, in lines that fit. */
  @Test
  void keptRunsFitAndLoseNothing() throws IOException {
    Pattern figure = Pattern.compile("\\d[\\d.]*( µs)?( \\(\\d[\\d.]*\\))?");
    Set<Run> seen = EnumSet.noneOf(Run.class);
    for (Path file : KeptResultsTest.kept()) {
      for (Map.Entry<Run, PeerResults> run : KeptResults.read(file).runs().entrySet()) {
        seen.add(run.getKey());
        String markdown = run.getKey().tables(run.getValue());
        List<String> lines = TerminalText.of(markdown);
        assertThat(lines).allMatch(line -> line.length() < 80);
        String text = String.join(" ", lines).replaceAll("\\s+", " ");
        assertThat(text).doesNotContain("|", "**", "`");
        assertThat(
                figure.matcher(markdown.replace("**", "")).results().map(m -> m.group()).toList())
            .allSatisfy(number -> assertThat(text).contains(number));
      }
    }
    assertThat(seen).contains(Run.PEERS, Run.VARIANTS);
  }
}
