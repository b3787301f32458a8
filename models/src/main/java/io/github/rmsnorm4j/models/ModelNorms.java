package io.github.rmsnorm4j.models;

import java.util.List;
import java.util.Optional;

/**
 * The norms of one stored model, and the matrices around its residual stream.
 *
 * @param family the name of the family whose rules were used, for example {@code Llama}
 * @param norms every norm, layer by layer, in the order in which a token meets them
 * @param embeddings the tensors whose rows are added to form the residual stream's first row: the
 *     token embedding first, then learned positions if there are any
 * @param writers the projections whose outputs are added to the residual stream
 * @param head the projection from the last norm to the logits; its weight is the token embedding's
 *     tensor if the head is tied. Empty if the model has no head
 * @param tied whether the head is the token embedding
 * @param ownHead the tensor of the head's weight where the head is not tied
 * @param headScale what the logits are multiplied by: {@code d^-0.5} for a tied T5, else 1
 * @param untiedSettings the settings of {@code config.json} that are false where the head is not
 *     tied: whether it is, and whether the logits are scaled
 * @param convertedType the {@code model_type} of the same model with RMSNorm, empty if the family
 *     cannot be converted
 * @param notConverted why LayerNorm cannot be replaced by RMSNorm, as the end of a sentence "cannot
 *     be converted: ..."; empty if it can
 * @param unknown the tensors that no rule of the family covers. A norm's output may go there, so a
 *     model that has some is not rewritten
 */
public record ModelNorms(
    String family,
    List<NormSite> norms,
    List<String> embeddings,
    List<Projection> writers,
    Optional<Projection> head,
    boolean tied,
    String ownHead,
    double headScale,
    List<String> untiedSettings,
    Optional<String> convertedType,
    Optional<String> notConverted,
    List<String> unknown) {

  /** Copies the lists. */
  public ModelNorms {
    norms = List.copyOf(norms);
    embeddings = List.copyOf(embeddings);
    writers = List.copyOf(writers);
    untiedSettings = List.copyOf(untiedSettings);
    unknown = List.copyOf(unknown);
  }
}
