package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.internal.ConfigFields;

/**
 * Writes a config as Hugging Face's {@code config.json}: as a Llama's or a Qwen 3's where it is
 * one, so that it opens there, and otherwise as a model type of our own. Norms that no Llama has
 * are said by keys that begin with rmsnorm4j.
 */
final class ConfigJson {
  static final String NORM = "rmsnorm4j_norm";
  static final String NO_NORM = "none";
  static final String PLACEMENT = "rmsnorm4j_placement";
  static final String QUERY_KEY_NORM = "rmsnorm4j_query_key_norm";

  /** No text in it needs an escape. */
  private static final String FILE =
      """
      {
        "model_type" : %s,
        "vocab_size" : %s,
        "hidden_size" : %s,
        "intermediate_size" : %s,
        "num_hidden_layers" : %s,
        "num_attention_heads" : %s,
        "num_key_value_heads" : %s,
        "head_dim" : %s,
        "max_position_embeddings" : %s,
        "rope_theta" : %s,%s
        "hidden_act" : "silu",
        "attention_bias" : false,
        "mlp_bias" : false,
        "tie_word_embeddings" : %s,
        "initializer_range" : %s,
        "torch_dtype" : "float32",%s
        "rmsnorm4j_placement" : "%s",
        "rmsnorm4j_query_key_norm" : %s
      }
      """;

  private ConfigJson() {}

  static String write(ModelConfig config) {
    if (!config.form().equals(BlockForm.LLAMA)) {
      throw new IllegalArgumentException(
          "form is " + config.form() + ", only models of Llama's form are saved");
    }
    NormSpec norm = config.norm();
    // An RMSNorm that no more is to be said of than its epsilon.
    boolean usual =
        norm != null
            && norm.epsilon().isPresent()
            && norm.equals(NormSpec.RMSNORM.withEpsilon(norm.epsilon().getAsDouble()));
    String type = "\"rmsnorm4j\"";
    if (usual && config.placement() == Placement.PRE) {
      String published = "\"%s\",\n  \"architectures\" : [ \"%sForCausalLM\" ]";
      type =
          config.queryKeyNorm()
              ? published.formatted("qwen3", "Qwen3")
              : published.formatted("llama", "Llama");
    }
    String own = "\n  \"" + NORM + "\" : \"" + (norm == null ? NO_NORM : norm) + "\",";
    return FILE.formatted(
        type,
        config.vocabulary(),
        config.width(),
        config.mlpWidth(),
        config.layers(),
        config.heads(),
        config.keyValueHeads(),
        config.headWidth(),
        config.maxPositions(),
        config.ropeTheta(),
        usual ? "\n  \"rms_norm_eps\" : " + norm.epsilon().getAsDouble() + "," : "",
        config.tied(),
        config.initialRange(),
        usual ? "" : own,
        ConfigFields.label(config.placement()),
        config.queryKeyNorm());
  }
}
