package io.github.rmsnorm4j.internal.formula;

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
