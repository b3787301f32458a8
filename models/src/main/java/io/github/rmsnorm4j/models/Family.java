package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.NormSpec;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The rules for the norms of a family of models. Names are patterns, without the ending {@code
 * .weight} or {@code .bias}.
 *
 * @param name what users call the family
 * @param modelTypes the values of {@code model_type} in {@code config.json}
 * @param architectures the values of {@code general.architecture} in a GGUF file
 * @param prefixes what may stand for {@code {prefix}}; the first with which there is an embedding
 * @param counts for each word that counts layers, the settings that say how many there are
 * @param mayLack for such a word, a tensor without which there are no such layers; {@code *} at its
 *     end stands for anything
 * @param width the settings that say how wide the residual stream is
 * @param inputsFirst last parts of the names of matrices that are stored (inputs, outputs)
 * @param embeddings the token embedding, and learned positions
 * @param head the projection to the logits
 * @param tied when the head is the token embedding
 * @param tiedHeadPower a tied head's logits are multiplied by this power of the width
 * @param headScaleKeys the settings that say whether they are; none, or not set: if it is tied
 * @param norms the norms, in the order in which a token meets them within a layer
 * @param writers the projections whose outputs are added to the residual stream
 * @param others tensors that no norm's output is multiplied by; {@code *} at the end stands for
 *     anything
 * @param premises settings without which the rules do not hold
 * @param converted the {@code model_type} with RMSNorm instead of LayerNorm
 */
record Family(
    String name,
    List<String> modelTypes,
    List<String> architectures,
    List<String> prefixes,
    Map<String, List<String>> counts,
    Map<String, String> mayLack,
    List<String> width,
    Set<String> inputsFirst,
    List<NamePattern> embeddings,
    NamePattern head,
    Tied tied,
    double tiedHeadPower,
    List<String> headScaleKeys,
    List<NormRule> norms,
    List<NamePattern> writers,
    List<NamePattern> others,
    List<Premise> premises,
    Optional<String> converted) {

  /**
   * When the head is the token embedding.
   *
   * @param keys the setting that says so; none if it is tied where no head is stored
   * @param absent what holds where it is not set
   */
  record Tied(List<String> keys, boolean absent) {}

  /**
   * A setting without which the rules do not hold.
   *
   * @param key the setting
   * @param value what it must be
   * @param absent what holds where it is not set
   * @param otherwise what the model is like otherwise
   */
  record Premise(String key, boolean value, boolean absent, String otherwise) {}

  /**
   * A norm of each layer, or one outside of them.
   *
   * @param name its name
   * @param spec which norm; its epsilon holds where no setting does
   * @param epsilonKeys the settings that hold epsilon
   * @param groupKeys the settings that hold the number of groups of a row; none if the spec has
   *     them
   * @param gain whether there is a gain
   * @param heads whether its rows are heads, several of which make the input of a matrix
   * @param consumers the matrices that take its output
   * @param orConsumers those that take it if the first are not there
   * @param kept why the gain cannot be moved into matrices
   * @param note what the model does not tell of it
   * @param optional whether a model may lack it
   */
  record NormRule(
      NamePattern name,
      NormSpec spec,
      List<String> epsilonKeys,
      List<String> groupKeys,
      boolean gain,
      boolean heads,
      List<NamePattern> consumers,
      List<NamePattern> orConsumers,
      Optional<String> kept,
      Optional<String> note,
      boolean optional) {}
}
