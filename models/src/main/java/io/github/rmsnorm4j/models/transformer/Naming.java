package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How a family of stored models names its tensors, and what is in them. A name in the table stands
 * for a weight and its bias.
 */
final class Naming {
  private static final String[] QUERY_KEY_VALUE = {
    "model.layers.N.self_attn.q_proj",
    "model.layers.N.self_attn.k_proj",
    "model.layers.N.self_attn.v_proj"
  };

  /** The names of {@link ParameterLayout}. */
  static final Naming LLAMA = new Naming("", Map.of(), List.of(".rotary_emb.inv_freq"));

  static final Naming GPT2 =
      new Naming(
          "transformer.",
          Map.ofEntries(
              row("*wte", ParameterLayout.EMBEDDING),
              row("*wpe", ParameterLayout.POSITIONS),
              row("*h.N.ln_1", "model.layers.N.input_layernorm"),
              row("*h.N.attn.c_attn", Order.INPUTS_FIRST, QUERY_KEY_VALUE),
              row("*h.N.attn.c_proj", Order.INPUTS_FIRST, "model.layers.N.self_attn.o_proj"),
              row("*h.N.ln_2", "model.layers.N.post_attention_layernorm"),
              row("*h.N.mlp.c_fc", Order.INPUTS_FIRST, "model.layers.N.mlp.up_proj"),
              row("*h.N.mlp.c_proj", Order.INPUTS_FIRST, "model.layers.N.mlp.down_proj"),
              row("*ln_f", ParameterLayout.FINAL_NORM),
              row("lm_head", ParameterLayout.HEAD)),
          List.of(".attn.bias", ".attn.masked_bias"));

  static final Naming GPT_NEOX =
      new Naming(
          "gpt_neox.",
          Map.ofEntries(
              row("*embed_in", ParameterLayout.EMBEDDING),
              row("*layers.N.input_layernorm", "model.layers.N.input_layernorm"),
              row("*layers.N.attention.query_key_value", Order.HEAD_BY_HEAD, QUERY_KEY_VALUE),
              row("*layers.N.attention.dense", "model.layers.N.self_attn.o_proj"),
              row("*layers.N.post_attention_layernorm", "model.layers.N.post_attention_layernorm"),
              row("*layers.N.mlp.dense_h_to_4h", "model.layers.N.mlp.up_proj"),
              row("*layers.N.mlp.dense_4h_to_h", "model.layers.N.mlp.down_proj"),
              row("*final_layer_norm", ParameterLayout.FINAL_NORM),
              row("embed_out", ParameterLayout.HEAD)),
          List.of(".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq"));

  /** In which order a matrix has its elements. */
  private enum Order {
    /** (outputs, inputs), one parameter after the other. */
    OUTPUTS_FIRST,
    /** (inputs, outputs), one parameter after the other. */
    INPUTS_FIRST,
    /**
     * (outputs, inputs); the outputs of one head of each parameter, then those of the next head.
     */
    HEAD_BY_HEAD
  }

  /** A row of the table: its name in the file, * being the prefix, and the order. */
  private record Row(String stored, Order order) {
    String stored(String prefix, String block) {
      return stored.replace("*", prefix).replace(".N.", "." + block + ".");
    }
  }

  /** The prefix that a file's names may have or lack. */
  private final String prefix;

  /** By the names of {@link ParameterLayout}, N being the number of a block. */
  private final Map<String, Row> rows;

  /** Ends of the names of stored tensors that follow from the config. */
  private final List<String> passedOver;

  private Naming(String prefix, Map<List<String>, Row> table, List<String> passedOver) {
    this.prefix = prefix;
    this.passedOver = passedOver;
    Map<String, Row> byName = new LinkedHashMap<>();
    table.forEach((names, row) -> names.forEach(name -> byName.put(name, row)));
    rows = byName;
  }

  private static Map.Entry<List<String>, Row> row(String stored, String name) {
    return row(stored, Order.OUTPUTS_FIRST, name);
  }

  private static Map.Entry<List<String>, Row> row(String stored, Order order, String... names) {
    return Map.entry(List.of(names), new Row(stored, order));
  }

  /** The prefix that the names of a file have. */
  String prefix(TensorFile file) {
    boolean prefixed = file.tensors().stream().anyMatch(tensor -> tensor.name().startsWith(prefix));
    return prefixed ? prefix : "";
  }

  /**
   * The tensors that hold parameters of a model.
   *
   * @param headWidth of the model
   * @param parameters in the model's order, those of fused tensors together
   * @param prefix of the file
   */
  List<StoredTensor> tensors(int headWidth, List<Parameter> parameters, String prefix) {
    Map<String, List<Parameter>> fused = new LinkedHashMap<>();
    Map<String, Order> orders = new LinkedHashMap<>();
    for (Parameter parameter : parameters) {
      Row row = find(parameter.name());
      String stored = stored(row, parameter.name(), prefix);
      fused.computeIfAbsent(stored, name -> new ArrayList<>()).add(parameter);
      orders.put(stored, row == null ? Order.OUTPUTS_FIRST : row.order());
    }
    List<StoredTensor> tensors = new ArrayList<>();
    fused.forEach((name, parts) -> tensors.add(tensor(name, parts, orders.get(name), headWidth)));
    return tensors;
  }

  private static StoredTensor tensor(
      String name, List<Parameter> parameters, Order order, int headWidth) {
    List<StoredTensor.Part> parts = new ArrayList<>();
    int first = 0;
    for (Parameter parameter : parameters) {
      boolean heads = order == Order.HEAD_BY_HEAD;
      int run = heads ? headWidth : parameter.outputs();
      parts.add(new StoredTensor.Part(parameter, first, run, run * parameters.size()));
      first += run;
    }
    return new StoredTensor(name, parts, order == Order.INPUTS_FIRST);
  }

  /** Null where the table has none and the name in the file is that of the model. */
  private Row find(String parameter) {
    return rows.get(module(parameter).replace("." + block(parameter) + ".", ".N."));
  }

  private static String stored(Row row, String parameter, String prefix) {
    String module = module(parameter);
    return row == null
        ? parameter
        : row.stored(prefix, block(parameter)) + parameter.substring(module.length());
  }

  private static String module(String parameter) {
    return parameter.substring(0, parameter.lastIndexOf('.'));
  }

  /** The number of a parameter's block, or a text that no name has. */
  private static String block(String parameter) {
    return parameter.startsWith("model.layers.") ? parameter.split("\\.", 4)[2] : "N";
  }

  /** A tensor that is passed over would be a part of the formula that is passed over. */
  void requireNoOthers(TensorFile file, List<StoredTensor> tensors, ModelConfig config)
      throws FormatException {
    Set<String> known = new HashSet<>();
    tensors.forEach(tensor -> known.add(tensor.name()));
    if (config.tied()) {
      // Some files have a tied head a second time.
      String head = ParameterLayout.HEAD + ".weight";
      known.add(stored(find(head), head, prefix(file)));
    }
    for (Tensor tensor : file.tensors()) {
      String name = tensor.name();
      if (!known.contains(name) && passedOver.stream().noneMatch(name::endsWith)) {
        throw new FormatException(
            file.path(), name, "is not of the model that config.json describes");
      }
    }
  }
}
