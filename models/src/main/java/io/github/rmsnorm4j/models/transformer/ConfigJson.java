package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.internal.ConfigFields;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

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
    boolean published = usual && config.placement() == Placement.PRE;
    String type = config.queryKeyNorm() ? "qwen3" : "llama";
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("model_type", quoted(published ? type : "rmsnorm4j"));
    if (published) {
      String name = config.queryKeyNorm() ? "Qwen3" : "Llama";
      fields.put("architectures", "[ " + quoted(name + "ForCausalLM") + " ]");
    }
    fields.put("vocab_size", config.vocabulary());
    fields.put("hidden_size", config.width());
    fields.put("intermediate_size", config.mlpWidth());
    fields.put("num_hidden_layers", config.layers());
    fields.put("num_attention_heads", config.heads());
    fields.put("num_key_value_heads", config.keyValueHeads());
    fields.put("head_dim", config.headWidth());
    fields.put("max_position_embeddings", config.maxPositions());
    fields.put("rope_theta", config.ropeTheta());
    if (usual) {
      fields.put("rms_norm_eps", norm.epsilon().getAsDouble());
    }
    fields.put("hidden_act", quoted("silu"));
    fields.put("attention_bias", false);
    fields.put("mlp_bias", false);
    fields.put("tie_word_embeddings", config.tied());
    fields.put("initializer_range", config.initialRange());
    fields.put("torch_dtype", quoted("float32"));
    if (!usual) {
      fields.put(NORM, quoted(norm == null ? NO_NORM : norm.toString()));
    }
    fields.put(PLACEMENT, quoted(ConfigFields.label(config.placement())));
    fields.put(QUERY_KEY_NORM, config.queryKeyNorm());
    return fields.entrySet().stream()
        .map(field -> "  " + quoted(field.getKey()) + " : " + field.getValue())
        .collect(Collectors.joining(",\n", "{\n", "\n}\n"));
  }

  /** No text here needs an escape. */
  private static String quoted(String text) {
    return '"' + text + '"';
  }
}
