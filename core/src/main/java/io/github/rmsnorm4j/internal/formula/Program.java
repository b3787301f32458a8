package io.github.rmsnorm4j.internal.formula;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a call computes for each row: steps, one after the other. At most one step has ranges. A row
 * that is out of range continues with other steps, or its statistic is computed again.
 *
 * @param steps the steps of a row in range
 * @param wide the steps after the one with ranges, for a row that is out of range; null where
 *     {@code rescaling} serves such rows
 * @param rescaling the statistic of a float64 row that is out of range; null for other rows
 */
public record Program(List<Step> steps, @Nullable List<Step> wide, @Nullable Rescaling rescaling) {
  /** The elements of a row that a step is for. */
  public enum Extent {
    /** The first element. */
    FIRST,
    /** The elements of the statistic: all of them, or the first ones of a partial norm. */
    PART,
    /** The elements after those of the statistic. */
    REST,
    /** All elements. */
    ROW,
    /** None: the step is for numbers of the row. */
    NUMBERS;

    /** The first element. */
    public int from(int part) {
      return this == REST ? part : 0;
    }

    /** The end of the elements. */
    public int to(int width, int part) {
      return switch (this) {
        case FIRST -> 1;
        case PART -> part;
        case REST, ROW -> width;
        case NUMBERS -> 0;
      };
    }
  }

  /** A stage, and the elements that it is for. */
  public record Step(Stage stage, Extent extent) {
    static Step ofNumbers(Stage stage) {
      return new Step(stage, Extent.NUMBERS);
    }

    /** Whether numbers of a row come from elements that not every owner of the row may have. */
    private boolean isShared() {
      return extent == Extent.FIRST || !stage.sums().isEmpty();
    }
  }

  /**
   * The statistic of a float64 row whose squares leave the range of float64, from elements times a
   * power of two. {@code io.github.rmsnorm4j.internal.backend.Rescaled} chooses the power.
   *
   * @param shift x0; null for RMSNorm
   * @param statistic with a small power, and with a great one
   * @param roots from row sums to root and rstd
   * @param output from elements times the power, for each; null in a backward pass
   */
  public record Rescaling(
      @Nullable Stage shift, List<Stage> statistic, Stage roots, @Nullable List<Stage> output) {}

  /** Copies the steps. */
  public Program {
    steps = List.copyOf(steps);
    wide = wide == null ? null : List.copyOf(wide);
  }

  /**
   * The program in phases, for rows that have several owners. Each phase but the last one ends with
   * a step that leaves numbers of a row from its first element or from row sums. These are known in
   * all later phases. The last phase does the rest. A phase after the step with ranges begins with
   * that step.
   */
  List<Program> phases() {
    List<Program> phases = new ArrayList<>();
    for (int phase = 0; phase <= sharedSteps(steps); phase++) {
      phases.add(phase(phase));
    }
    return List.copyOf(phases);
  }

  private Program phase(int phase) {
    int before = sharedSteps(steps.subList(0, ranged()));
    List<Step> ofWide = wide != null && phase >= before ? phase(wide, phase - before) : null;
    return new Program(phase(steps, phase), ofWide, rescaling);
  }

  private static List<Step> phase(List<Step> steps, int phase) {
    List<Step> of = new ArrayList<>();
    for (int s = 0; s < steps.size(); s++) {
      int shared = sharedSteps(steps.subList(0, s));
      if (shared == phase || shared < phase && steps.get(s).stage().hasRanges()) {
        of.add(steps.get(s));
      }
    }
    return of;
  }

  private static int sharedSteps(List<Step> steps) {
    return (int) steps.stream().filter(Step::isShared).count();
  }

  /** The place of the step with ranges; the number of steps without one. */
  public int ranged() {
    int step = 0;
    while (step < steps.size() && !steps.get(step).stage().hasRanges()) {
      step++;
    }
    return step;
  }

  /** Whether some elements of a row are done in another way than the others. */
  public boolean isDivided() {
    for (Step step : steps) {
      if (step.extent() == Extent.REST) {
        return true;
      }
    }
    return false;
  }
}
