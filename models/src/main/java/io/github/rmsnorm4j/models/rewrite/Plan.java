package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.Tensor;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a rewriting changes. Tensors that it does not name are copied byte for byte.
 *
 * @param goal what for
 * @param norms what happens to each norm, in the model's order
 * @param edits how tensors of the result are made, by their names
 * @param added the tensor of the result that the model does not have: the head that was tied
 * @param falseSettings the settings of {@code config.json} that become false because the head is a
 *     matrix of its own from now on; none if it is not
 * @param modelType the new {@code model_type}, if it changes
 */
public record Plan(
    Goal goal,
    List<NormOutcome> norms,
    Map<String, Edit> edits,
    Optional<Tensor> added,
    List<String> falseSettings,
    Optional<String> modelType) {

  /** Copies the collections. */
  public Plan {
    norms = List.copyOf(norms);
    edits = Collections.unmodifiableMap(new LinkedHashMap<>(edits));
    falseSettings = List.copyOf(falseSettings);
  }

  /** {@return whether the head was tied and is a matrix of its own from now on} */
  public boolean untied() {
    return !falseSettings.isEmpty();
  }
}
