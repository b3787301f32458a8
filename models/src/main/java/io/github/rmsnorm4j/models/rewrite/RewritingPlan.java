package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a rewriting changes.
 *
 * @param norms what happens to each norm, in the model's order
 * @param edits how tensors of the result are made, by their names; all others are copied
 * @param untied whether the head was tied and is a matrix of its own from now on
 * @param added the tensor of the result that the model does not have: that head
 * @param modelType the new {@code model_type}, if it changes
 */
record RewritingPlan(
    List<NormOutcome> norms,
    Map<String, Edit> edits,
    boolean untied,
    Optional<Tensor> added,
    Optional<String> modelType) {}
