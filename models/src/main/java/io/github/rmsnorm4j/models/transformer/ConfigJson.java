package io.github.rmsnorm4j.models.transformer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.internal.ConfigFields;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

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
  static final String HEAD_GATE = "rmsnorm4j_head_gate";
  static final String OWN_TYPE = "rmsnorm4j";

  private static final JsonFactory JSON = new JsonFactory();

  private ConfigJson() {}

  static String write(ModelConfig config) {
    if (!config.form().equals(BlockForm.LLAMA)) {
      throw new IllegalArgumentException(
          "form is " + config.form() + ", only models of Llama's form are saved");
    }
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      json.setPrettyPrinter(new DefaultPrettyPrinter());
      json.writeStartObject();
      writeType(json, config);
      json.writeNumberField("vocab_size", config.vocabulary());
      json.writeNumberField("hidden_size", config.width());
      json.writeNumberField("intermediate_size", config.mlpWidth());
      json.writeNumberField("num_hidden_layers", config.layers());
      json.writeNumberField("num_attention_heads", config.heads());
      json.writeNumberField("num_key_value_heads", config.keyValueHeads());
      json.writeNumberField("head_dim", config.headWidth());
      json.writeNumberField("max_position_embeddings", config.maxPositions());
      json.writeNumberField("rope_theta", config.ropeTheta());
      if (hasUsualNorm(config)) {
        json.writeNumberField("rms_norm_eps", config.norm().epsilon().getAsDouble());
      }
      json.writeStringField("hidden_act", "silu");
      json.writeBooleanField("attention_bias", false);
      json.writeBooleanField("mlp_bias", false);
      json.writeBooleanField("tie_word_embeddings", config.tied());
      json.writeNumberField("initializer_range", config.initialRange());
      json.writeStringField("torch_dtype", "float32");
      writeNorm(json, config);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("memory does not fail to be written to", e);
    }
    return text + "\n";
  }

  private static void writeType(JsonGenerator json, ModelConfig config) throws IOException {
    boolean usual =
        hasUsualNorm(config)
            && config.placement() == Placement.PRE
            && config.headGate() == Gate.NONE;
    String family = config.queryKeyNorm() ? "qwen3" : "llama";
    String architecture = config.queryKeyNorm() ? "Qwen3ForCausalLM" : "LlamaForCausalLM";
    json.writeStringField("model_type", usual ? family : OWN_TYPE);
    if (usual) {
      json.writeArrayFieldStart("architectures");
      json.writeString(architecture);
      json.writeEndArray();
    }
  }

  /** An RMSNorm that no more is to be said of than its epsilon. */
  private static boolean hasUsualNorm(ModelConfig config) {
    NormSpec norm = config.norm();
    return norm != null
        && norm.epsilon().isPresent()
        && norm.equals(NormSpec.RMSNORM.withEpsilon(norm.epsilon().getAsDouble()));
  }

  private static void writeNorm(JsonGenerator json, ModelConfig config) throws IOException {
    if (!hasUsualNorm(config)) {
      json.writeStringField(NORM, config.hasNorms() ? config.norm().toString() : NO_NORM);
    }
    json.writeStringField(PLACEMENT, ConfigFields.label(config.placement()));
    json.writeBooleanField(QUERY_KEY_NORM, config.queryKeyNorm());
    json.writeStringField(HEAD_GATE, ConfigFields.label(config.headGate()));
  }
}
