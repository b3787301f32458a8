package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.models.Projection;
import java.util.List;
import java.util.stream.Stream;

/**
 * How one tensor of the result is made from a tensor of the model.
 *
 * @param source the tensor of the model; the same name, or the embedding for a head that was tied
 * @param steps what is done to its numbers, one after the other; none for a copy
 */
record Edit(String source, List<Step> steps) {
  sealed interface Step {}

  /**
   * {@code W diag(g)}. The gain g, stored less the offset, may be that of each of several heads.
   */
  record ScaleInputs(String gain, double offset, boolean inputsFirst) implements Step {}

  record Scale(double factor) implements Step {}

  record Fill(double value) implements Step {}

  /** {@code b + W beta} with W as it is stored, its inputs not scaled. */
  record AddProduct(Projection matrix, String beta) implements Step {}

  /** Rows of the stored tensor lose their means, or else columns. A vector is one row. */
  record Center(boolean rows) implements Step {}

  Edit then(Step step) {
    return new Edit(source, Stream.concat(steps.stream(), Stream.of(step)).toList());
  }
}
