package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.studies.training.OpenBlas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingTest {
  private static final int STEPS = 40;

  @TempDir Path path;

  private static Plan plan(Plan.Kind kind) {
    return Plans.of(kind, null, new Plans.Wishes(STEPS, 1, 8, 2, null, 2, List.of(), List.of()));
  }

  private Outcome whole(Plan plan, Run run, String name) throws IOException {
    RunFolder folder = RunFolder.open(path.resolve(name), plan, false, false);
    return new Training(plan, run, null, folder)
        .run((r, step, loss) -> {}, () -> false)
        .orElseThrow();
  }

  /** All that does not depend on the clock. */
  private static void assertSame(Outcome one, Outcome other) {
    assertThat(one.loss()).isEqualTo(other.loss());
    assertThat(one.accuracy()).isEqualTo(other.accuracy());
    assertThat(one.before()).isEqualTo(other.before());
    assertThat(one.after()).isEqualTo(other.after());
    assertThat(one.curve())
        .extracting(Point::loss)
        .isEqualTo(other.curve().stream().map(Point::loss).toList());
  }

  @Test
  void stoppedAnywhereAndResumedItIsAsIfItHadNeverStopped() throws IOException {
    OpenBlas.useThreads(1);
    Plan plan =
        Plans.of(
            Plan.Kind.DEPTH,
            null,
            new Plans.Wishes(STEPS, 1, 8, 2, null, 2, List.of(1e-3), List.of(2)));
    for (Run run : plan.reported(List.of()).subList(0, 2)) {
      Outcome whole = whole(plan, run, "whole" + run.key());
      RunFolder folder = RunFolder.open(path.resolve("parts" + run.key()), plan, false, false);
      AtomicLong seen = new AtomicLong();
      Optional<Outcome> parts = Optional.empty();
      for (int starts = 0; parts.isEmpty(); starts++) {
        assertThat(starts).isLessThan(STEPS);
        long until = seen.get() + 7;
        parts =
            new Training(plan, run, null, folder)
                .run((r, step, loss) -> seen.set(step), () -> seen.get() >= until);
      }
      assertSame(parts.get(), whole);
      assertThat(parts.get().seconds()).isPositive();
    }
  }

  @Test
  void bothNormsBeginWithTheSameMatricesAndData() throws IOException {
    OpenBlas.useThreads(1);
    Plan plan = plan(Plan.Kind.USUAL);
    List<Run> runs = plan.reported(List.of());
    assertThat(runs).hasSize(2).extracting(Run::seed).containsOnly(1L);
    Outcome one = whole(plan, runs.getFirst(), "one");
    Outcome again = whole(plan, runs.getFirst(), "again");
    assertSame(one, again);
    assertThat(one.curve()).hasSize(STEPS);
    Outcome other = whole(plan, runs.getLast(), "other");
    assertThat(other.curve().getFirst().loss())
        .isNotEqualTo(one.curve().getFirst().loss())
        .isCloseTo(one.curve().getFirst().loss(), org.assertj.core.data.Offset.offset(0.1));
    assertThat(one.parameters() - other.parameters()).isEqualTo(8 * 5);
  }

  @Test
  void whatIsFinishedIsNotTrainedAgain() throws IOException {
    Plan plan = plan(Plan.Kind.USUAL);
    RunFolder folder = RunFolder.open(path.resolve("state"), plan, false, false);
    Live live = new Live(new java.io.PrintWriter(java.io.Writer.nullWriter()), plan, false, true);
    List<Outcome> first = new Trainings(plan, null, folder, live, () -> false).run(2).orElseThrow();
    folder.close();
    folder = RunFolder.open(path.resolve("state"), plan, true, false);
    assertThat(new Trainings(plan, null, folder, live, () -> false).run(2)).contains(first);
    folder.delete();
    assertThat(Files.exists(path.resolve("state"))).isFalse();
  }
}
