package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.measure.MarkedFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** docs/training.md shows the committed results of each plan, or that there are none. */
class TrainingPageTest {
  private static final Path DOCS = Path.of("..", "docs").toAbsolutePath().normalize();

  @ParameterizedTest
  @EnumSource(names = {"USUAL", "NORMS", "DEPTH"})
  void everyFigureOnThePageComesFromTheCommittedResults(Plan.Kind kind) throws IOException {
    String page = Files.readString(DOCS.resolve("training.md"));
    String begin = TrainingPage.begin(kind);
    assertThat(page).containsOnlyOnce(begin);
    Path json = DOCS.resolve("training").resolve(TrainingPage.name(kind) + ".json");
    if (Files.exists(json)) {
      Results results = Results.parse(Files.readString(json));
      assertThat(results.plan().kind()).isEqualTo(kind);
      assertThat(results.json()).isEqualTo(Files.readString(json));
      assertThat(TrainingPage.with(page, results))
          .as("train --page makes it again")
          .isEqualTo(page);
      assertThat(json.resolveSibling(TrainingPage.name(kind) + ".html"))
          .hasContent(new ReportPage(results).page().html());
    } else {
      assertThat(page.substring(page.indexOf(begin) + begin.length()))
          .startsWith("\n\nNo results are committed yet; `./rmsnorm train ")
          .contains("--write");
    }
  }

  @Test
  void everyMarkedFigureComesFromTheCommittedResults() throws IOException {
    KeptTrainings kept = new KeptTrainings(DOCS);
    for (Path marked : MarkedFigures.pages(DOCS.getParent())) {
      String page = Files.readString(marked);
      assertThat(figures(page))
          .as("%s; train --page makes it again", marked)
          .containsExactlyElementsOf(figures(MarkedFigures.with(page, kept)));
    }
  }

  private static List<String> figures(String page) {
    return Pattern.compile("\\S+<!-- figure [^>]+-->")
        .matcher(page)
        .results()
        .map(MatchResult::group)
        .toList();
  }

  @Test
  void aPartIsReplacedAndNothingElse() {
    Results results = SyntheticResults.usual(run -> 1, run -> 0.99, run -> 5);
    String page = "before\n\n<!-- begin train usual -->\n\nold\n\n<!-- end -->\n\nafter\n";
    String once = TrainingPage.with(page, results);
    assertThat(once)
        .startsWith("before\n\n<!-- begin train usual -->\n\n* No difference found")
        .contains(
            "| RMSNorm | 2e-3 | 1.0000 | 0.0000 | 99.0 % | 99.0 % | - | 5.00 ms | 10.0 % | 3 | 0 |")
        .endsWith("\n\n<!-- end -->\n\nafter\n")
        .doesNotContain("old");
    assertThat(TrainingPage.with(once, results)).isEqualTo(once);
  }

  /** Every kind of page can be made, with trainings that diverged among them. */
  @ParameterizedTest
  @EnumSource
  void everyKindHasItsPage(Plan.Kind kind) {
    Plan plan =
        Plans.of(
            kind,
            null,
            new Plans.Wishes(
                100,
                2,
                null,
                null,
                null,
                null,
                List.of(),
                kind == Plan.Kind.DEPTH ? List.of(4, 8) : List.of()));
    Results results =
        SyntheticResults.results(
            plan,
            run -> run.contender().equals(plan.contenders().getLast()) ? Double.NaN : run.seed(),
            run -> 0.5,
            run -> 5);
    assertThat(new ReportPage(results).page().html())
        .contains(
            plan.isDepth()
                ? "in stacks of 4 blocks, and not of 8"
                : "diverged with all of 2 seeds");
    assertThat(TerminalTables.lines(results)).allMatch(line -> line.length() <= 80);
  }
}
