package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.NormSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The tensors of a model, in their order, under the names that Hugging Face's Llama has for them.
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

  /**
   * A projection, an embedding or a norm, whose tensors end in .weight and .bias.
   *
   * @param names what each {@link Naming} calls it, within a block; - if it has no such tensor
   * @param shape outputs and inputs of the weight, Q and K being those of all heads
   */
  private record Row(List<String> names, String[] shape) {
    String name(Naming naming, String number) {
      String name = names.get(naming.ordinal());
      if (name.equals("-")) { // Messages then have the model's own.
        return name(Naming.LLAMA, number);
      }
      return (number.isEmpty() ? "" : naming.block + number) + name;
    }
  }

  private static final List<Row> FIRST =
      rows(
          """
          model.embed_tokens          wte          embed_in                    V d
          model.embed_positions       wpe          -                           P d
          """);

  private static final List<Row> BLOCK =
      rows(
          """
          self_attn.q_proj            attn.c_attn  attention.query_key_value   Q d
          self_attn.k_proj            attn.c_attn  attention.query_key_value   K d
          self_attn.v_proj            attn.c_attn  attention.query_key_value   K d
          self_attn.o_proj            attn.c_proj  attention.dense             d Q
          self_attn.q_norm            -            -                           h
          self_attn.k_norm            -            -                           h
          mlp.gate_proj               -            -                           F d
          mlp.up_proj                 mlp.c_fc     mlp.dense_h_to_4h           F d
          mlp.down_proj               mlp.c_proj   mlp.dense_4h_to_h           d F
          input_layernorm             ln_1         input_layernorm             d
          post_attention_layernorm    ln_2         post_attention_layernorm    d
          pre_feedforward_layernorm   -            -                           d
          post_feedforward_layernorm  -            -                           d
          """);

  private static final List<Row> LAST =
      rows(
          """
          model.norm                  ln_f         final_layer_norm            d
          lm_head                     lm_head      embed_out                   V d
          """);

  /** Tensors begin at multiples of 64 bytes. */
  private static final int ALIGNMENT = 16;

  private final ModelConfig config;
  private final Map<String, Integer> sizes;
  private final List<Parameter> parameters = new ArrayList<>();

  private ParameterLayout(ModelConfig config) {
    this.config = config;
    sizes =
        Map.of(
            "V", config.vocabulary(),
            "P", config.maxPositions(),
            "d", config.width(),
            "Q", config.heads() * config.headWidth(),
            "K", config.keyValueHeads() * config.headWidth(),
            "h", config.headWidth(),
            "F", config.mlpWidth());
  }

  private static List<Row> rows(String table) {
    return table
        .lines()
        .map(line -> line.split(" +", 4))
        .map(words -> new Row(List.of(words).subList(0, 3), words[3].split(" ")))
        .toList();
  }

  static List<Parameter> of(ModelConfig config) {
    ParameterLayout layout = new ParameterLayout(config);
    layout.addAll("", FIRST);
    for (int i = 0; i < config.layers(); i++) {
      layout.addAll(i + ".", BLOCK);
    }
    layout.addAll("", LAST);
    return List.copyOf(layout.parameters);
  }

  /** The name that those of a block's tensors begin with. */
  static String block(int i) {
    return Naming.LLAMA.block + i;
  }

  /** A row of an embedding or of the head, whether the config has this matrix or not. */
  static Parameter row(ModelConfig config, String name) {
    ParameterLayout layout = new ParameterLayout(config);
    Stream.of(FIRST, LAST)
        .flatMap(List::stream)
        .filter(row -> row.names.getFirst().equals(name))
        .forEach(row -> layout.add("", row, ".weight", List.of(1, config.width())));
    return layout.parameters.getFirst();
  }

  private void addAll(String number, List<Row> rows) {
    for (Row row : rows) {
      String name = row.names.getFirst();
      if (isThere(name)) {
        List<Integer> shape = Stream.of(row.shape).map(sizes::get).toList();
        add(number, row, ".weight", shape);
        if (isBiased(name)) {
          add(number, row, ".bias", List.of(shape.getFirst()));
        }
      }
    }
  }

  private void add(String number, Row row, String end, List<Integer> shape) {
    String name = row.name(Naming.LLAMA, number) + end;
    String stored = row.name(config.form().naming(), number) + end;
    parameters.add(new Parameter(name, stored, shape, parameters.isEmpty() ? 0 : end(parameters)));
  }

  private boolean isThere(String name) {
    Placement placement = config.placement();
    return switch (name) {
      case POSITIONS -> config.form().learnedPositions();
      case HEAD -> !config.tied();
      case FINAL_NORM -> config.hasFinalNorm();
      case "self_attn.q_norm", "self_attn.k_norm" -> config.queryKeyNorm();
      case "mlp.gate_proj" -> config.form().mlp() == MlpKind.SWIGLU;
      case "input_layernorm" -> config.hasNorms() && placement.before();
      case "post_attention_layernorm" -> config.hasNorms();
      case "pre_feedforward_layernorm" -> config.hasNorms() && placement == Placement.SANDWICH;
      case "post_feedforward_layernorm" -> config.hasNorms() && placement.after();
      default -> true;
    };
  }

  private boolean isBiased(String name) {
    if (name.equals(FINAL_NORM) || name.endsWith("_layernorm")) {
      return config.norm().kind() == NormSpec.Kind.LAYER_NORM || config.form().normBias();
    }
    return name.endsWith("_proj") && config.form().biases().of(name);
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

  /** Tensors that follow one another, moved so that the first begins at 0. */
  static List<Parameter> moved(List<Parameter> parameters) {
    long first = parameters.getFirst().offset();
    return parameters.stream()
        .map(p -> new Parameter(p.name(), p.stored(), p.shape(), p.offset() - first))
        .toList();
  }

  /** Elements that all tensors take together, with what lies between them. */
  static long end(List<Parameter> parameters) {
    Parameter last = parameters.getLast();
    long aligned = Math.ceilDiv(last.elements(), ALIGNMENT) * (long) ALIGNMENT;
    return Math.addExact(last.offset(), aligned);
  }
}
