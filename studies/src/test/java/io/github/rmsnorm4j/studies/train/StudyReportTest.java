package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StudyReportTest {
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
