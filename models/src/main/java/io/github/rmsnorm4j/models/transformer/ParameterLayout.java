package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.transformer.BlockForm.Biases;
import io.github.rmsnorm4j.models.transformer.Parameter.Role;
import java.util.ArrayList;
import java.util.List;

/**
 * The tensors of a model under the names that Hugging Face's Llama has for them.
 *
 * <p>What Llama lacks has the names of those that have it: q_norm and k_norm of Qwen 3, g_proj and
 * o_norm of the gated layers in Flash Linear Attention, and the four norms of a Gemma 2 block. With
 * norms before and after, post_attention_layernorm is thus the one behind the attention, in Llama's
 * own placement the one before the MLP.
 */
final class ParameterLayout {
  static final String EMBEDDING = "model.embed_tokens";
  static final String POSITIONS = "model.embed_positions";
  static final String FINAL_NORM = "model.norm";
  static final String HEAD = "lm_head";

  /** Tensors begin at multiples of 64 bytes. */
  private static final int ALIGNMENT = 16;

  private final ModelConfig config;
  private final List<Parameter> parameters = new ArrayList<>();
  private long next;

  private ParameterLayout(ModelConfig config) {
    this.config = config;
  }

  static List<Parameter> of(ModelConfig config) {
    ParameterLayout layout = new ParameterLayout(config);
    layout.matrix(EMBEDDING, config.vocabulary(), config.width());
    if (config.form().learnedPositions()) {
      layout.matrix(POSITIONS, config.maxPositions(), config.width());
    }
    for (int i = 0; i < config.layers(); i++) {
      layout.block(block(i) + ".");
    }
    if (config.hasFinalNorm()) {
      layout.norm(FINAL_NORM);
    }
    if (!config.tied()) {
      layout.matrix(HEAD, config.vocabulary(), config.width());
    }
    return List.copyOf(layout.parameters);
  }

  /** The name that those of a block's tensors begin with. */
  static String block(int i) {
    return "model.layers." + i;
  }

  private void block(String block) {
    BlockForm form = config.form();
    int d = config.width();
    int queries = config.heads() * config.headWidth();
    int keys = config.keyValueHeads() * config.headWidth();
    String attention = block + "self_attn.";
    Biases biases = form.biases();
    linear(attention + "q_proj", queries, d, biases.ofQueryKeyValue());
    linear(attention + "k_proj", keys, d, biases.ofQueryKeyValue());
    linear(attention + "v_proj", keys, d, biases.ofQueryKeyValue());
    linear(attention + "o_proj", d, queries, biases.ofOutput());
    if (config.queryKeyNorm()) {
      vector(attention + "q_norm.weight", config.headWidth(), Role.GAIN);
      vector(attention + "k_norm.weight", config.headWidth(), Role.GAIN);
    }
    if (config.headGate() != Gate.NONE) {
      matrix(attention + "g_proj", queries, d);
      vector(attention + "o_norm.weight", config.headWidth(), Role.GAIN);
    }
    if (form.mlp() == MlpKind.SWIGLU) {
      linear(block + "mlp.gate_proj", config.mlpWidth(), d, biases.ofMlp());
    }
    linear(block + "mlp.up_proj", config.mlpWidth(), d, biases.ofMlp());
    linear(block + "mlp.down_proj", d, config.mlpWidth(), biases.ofMlp());
    for (String norm : norms(config)) {
      norm(block + norm);
    }
  }

  private static List<String> norms(ModelConfig config) {
    List<String> names = new ArrayList<>();
    for (boolean mlp : new boolean[] {false, true}) {
      if (config.hasNorms() && config.placement().before()) {
        names.add(before(config, mlp));
      }
      if (config.hasNorms() && config.placement().after()) {
        names.add(after(mlp));
      }
    }
    return names;
  }

  /** The name of the norm before the attention or the MLP. */
  static String before(ModelConfig config, boolean mlp) {
    if (!mlp) {
      return "input_layernorm";
    }
    return config.placement() == Placement.PRE
        ? "post_attention_layernorm"
        : "pre_feedforward_layernorm";
  }

  /** The name of the norm after the attention or the MLP. */
  static String after(boolean mlp) {
    return mlp ? "post_feedforward_layernorm" : "post_attention_layernorm";
  }

  private void norm(String name) {
    vector(name + ".weight", config.width(), Role.GAIN);
    if (config.norm().kind() == NormSpec.Kind.LAYER_NORM || config.form().normBias()) {
      vector(name + ".bias", config.width(), Role.BIAS);
    }
  }

  private void vector(String name, int elements, Role role) {
    add(new Parameter(name, List.of(elements), next, role));
  }

  private void matrix(String name, int rows, int columns) {
    add(new Parameter(name + ".weight", List.of(rows, columns), next, Role.MATRIX));
  }

  private void linear(String name, int outputs, int inputs, boolean biased) {
    matrix(name, outputs, inputs);
    if (biased) {
      vector(name + ".bias", outputs, Role.BIAS);
    }
  }

  private void add(Parameter parameter) {
    parameters.add(parameter);
    next = Math.addExact(next, Math.ceilDiv(parameter.elements(), ALIGNMENT) * (long) ALIGNMENT);
  }

  /** Tensors that follow one another, moved so that the first begins at 0. */
  static List<Parameter> moved(List<Parameter> parameters) {
    long first = parameters.getFirst().offset();
    return parameters.stream()
        .map(p -> new Parameter(p.name(), p.shape(), p.offset() - first, p.role()))
        .toList();
  }

  /** Elements that all tensors take together, with what lies between them. */
  static long end(List<Parameter> parameters) {
    Parameter last = parameters.getLast();
    return last.offset() + Math.ceilDiv(last.elements(), ALIGNMENT) * (long) ALIGNMENT;
  }
}
