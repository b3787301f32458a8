package io.github.rmsnorm4j.models.rewrite;

import java.util.List;

/**
 * How one tensor of the result is made from a tensor of the model.
 *
 * @param source the tensor of the model; the same name, or the embedding for a head that was tied
 * @param steps what is done to its numbers; none for a copy
 */
public record Edit(String source, List<Step> steps) {

  /** Copies the list. */
  public Edit {
    steps = List.copyOf(steps);
  }

  /** Whether the numbers of the model have no influence on those of the result. */
  boolean isConstant() {
    return steps.stream().anyMatch(Step.Fill.class::isInstance);
  }
}
