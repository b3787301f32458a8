package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.transformer.BlockForm.Biases;
import java.util.ArrayList;
import java.util.List;

/**
 * The tensors of a model under the names that Hugging Face's Llama has for them.
 *
 * <p>What Llama lacks has the names of those that have it: q_norm and k_norm of Qwen 3, and the
 * four norms of a Gemma 2 block. With norms before and after, post_attention_layernorm is thus the
 * one behind the attention, in Llama's own placement the one before the MLP.
 */
final class ParameterLayout {
  static final String EMBEDDING = "model.embed_tokens";
  static final String POSITIONS = "model.embed_positions";
  static final String FINAL_NORM = "model.norm";
  static final String HEAD = "lm_head";

  /** Tensors begin at multiples of 64 bytes. */
  private static final int ALIGNMENT = 16;

  private final List<Parameter> parameters = new ArrayList<>();

  private ParameterLayout() {}

  static List<Parameter> of(ModelConfig config) {
    ParameterLayout layout = new ParameterLayout();
    int d = config.width();
    layout.linear(EMBEDDING, config.vocabulary(), d, false);
    if (config.form().learnedPositions()) {
      layout.linear(POSITIONS, config.maxPositions(), d, false);
    }
    for (int i = 0; i < config.layers(); i++) {
      layout.block(block(i) + ".", config);
    }
    if (config.hasFinalNorm()) {
      layout.norm(FINAL_NORM, config);
    }
    if (!config.tied()) {
      layout.linear(HEAD, config.vocabulary(), d, false);
    }
    return List.copyOf(layout.parameters);
  }

  /** The name that those of a block's tensors begin with. */
  static String block(int i) {
    return "model.layers." + i;
  }

  private void block(String block, ModelConfig config) {
    int d = config.width();
    int queries = config.heads() * config.headWidth();
    int keys = config.keyValueHeads() * config.headWidth();
    String attention = block + "self_attn.";
    Biases biases = config.form().biases();
    linear(attention + "q_proj", queries, d, biases.ofQueryKeyValue());
    linear(attention + "k_proj", keys, d, biases.ofQueryKeyValue());
    linear(attention + "v_proj", keys, d, biases.ofQueryKeyValue());
    linear(attention + "o_proj", d, queries, biases.ofOutput());
    if (config.queryKeyNorm()) {
      add(attention + "q_norm.weight", config.headWidth());
      add(attention + "k_norm.weight", config.headWidth());
    }
    if (config.form().mlp() == MlpKind.SWIGLU) {
      linear(block + "mlp.gate_proj", config.mlpWidth(), d, biases.ofMlp());
    }
    linear(block + "mlp.up_proj", config.mlpWidth(), d, biases.ofMlp());
    linear(block + "mlp.down_proj", d, config.mlpWidth(), biases.ofMlp());
    for (boolean mlp : new boolean[] {false, true}) {
      if (config.hasNorms() && config.placement().before()) {
        norm(block + before(config, mlp), config);
      }
      if (config.hasNorms() && config.placement().after()) {
        norm(block + after(mlp), config);
      }
    }
  }

  /** The name of the norm before the attention or the MLP. */
  static String before(ModelConfig config, boolean mlp) {
    if (!mlp) {
      return "input_layernorm";
    }
    return config.placement() == Placement.PRE ? after(false) : "pre_feedforward_layernorm";
  }

  /** The name of the norm after the attention or the MLP. */
  static String after(boolean mlp) {
    return mlp ? "post_feedforward_layernorm" : "post_attention_layernorm";
  }

  private void norm(String name, ModelConfig config) {
    add(name + ".weight", config.width());
    if (config.norm().kind() == NormSpec.Kind.LAYER_NORM || config.form().normBias()) {
      add(name + ".bias", config.width());
    }
  }

  private void linear(String name, int outputs, int inputs, boolean biased) {
    add(name + ".weight", outputs, inputs);
    if (biased) {
      add(name + ".bias", outputs);
    }
  }

  private void add(String name, Integer... shape) {
    long offset = parameters.isEmpty() ? 0 : end(parameters);
    parameters.add(new Parameter(name, List.of(shape), offset));
  }

  /** Tensors that follow one another, moved so that the first begins at 0. */
  static List<Parameter> moved(List<Parameter> parameters) {
    long first = parameters.getFirst().offset();
    return parameters.stream()
        .map(p -> new Parameter(p.name(), p.shape(), p.offset() - first))
        .toList();
  }

  /** Elements that all tensors take together, with what lies between them. */
  static long end(List<Parameter> parameters) {
    Parameter last = parameters.getLast();
    long aligned = Math.ceilDiv(last.elements(), ALIGNMENT) * (long) ALIGNMENT;
    return Math.addExact(last.offset(), aligned);
  }
}
