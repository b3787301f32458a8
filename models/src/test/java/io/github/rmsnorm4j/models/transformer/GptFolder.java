package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A small GPT-2 or GPT-NeoX of random numbers, written as Hugging Face stores it. */
final class GptFolder {
  static final int VOCABULARY = 13;
  static final int WIDTH = 24;
  static final int LAYERS = 2;
  static final int HEADS = 3;
  static final int POSITIONS = 10;
  private static final int MLP_WIDTH = 20;

  static final String GPT2 =
      """
      {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 13,
       "n_embd": 24, "n_layer": 2, "n_head": 3, "n_inner": 20, "n_positions": 10, "n_ctx": 10,
       "activation_function": "gelu_new", "layer_norm_epsilon": 1e-03, "attn_pdrop": 0.1,
       "scale_attn_weights": true, "tie_word_embeddings": true}
      """;

  static final String NEOX =
      """
      {"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "vocab_size": 13,
       "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3,
       "intermediate_size": 20, "max_position_embeddings": 10, "hidden_act": "gelu",
       "layer_norm_eps": 1e-03, "rotary_pct": 0.25, "rotary_emb_base": 100,
       "use_parallel_residual": true, "attention_bias": true, "tie_word_embeddings": false}
      """;

  private final SeededRandom random;
  private final List<Tensor> tensors = new ArrayList<>();

  /** By their names without a prefix. */
  final Map<String, double[]> values = new HashMap<>();

  private final Map<String, float[]> stored = new HashMap<>();

  private GptFolder(long seed) {
    random = new SeededRandom(seed, 0);
  }

  static GptFolder gpt2(String prefix, boolean tied, long seed) {
    GptFolder model = new GptFolder(seed);
    model.add(prefix, "wte.weight", VOCABULARY, WIDTH);
    model.add(prefix, "wpe.weight", POSITIONS, WIDTH);
    for (int i = 0; i < LAYERS; i++) {
      String at = "h." + i + ".";
      model.norm(prefix, at + "ln_1");
      model.add(prefix, at + "attn.bias", 1, 1, POSITIONS, POSITIONS);
      model.add(prefix, at + "attn.masked_bias", 1);
      model.linear(prefix, at + "attn.c_attn", 3 * WIDTH, WIDTH, true);
      model.linear(prefix, at + "attn.c_proj", WIDTH, WIDTH, true);
      model.norm(prefix, at + "ln_2");
      model.linear(prefix, at + "mlp.c_fc", MLP_WIDTH, WIDTH, true);
      model.linear(prefix, at + "mlp.c_proj", WIDTH, MLP_WIDTH, true);
    }
    model.norm(prefix, "ln_f");
    if (!tied) {
      model.add("", "lm_head.weight", VOCABULARY, WIDTH);
    }
    return model;
  }

  static GptFolder neox(boolean tied, long seed) {
    String prefix = "gpt_neox.";
    GptFolder model = new GptFolder(seed);
    model.add(prefix, "embed_in.weight", VOCABULARY, WIDTH);
    for (int i = 0; i < LAYERS; i++) {
      String at = "layers." + i + ".";
      model.norm(prefix, at + "input_layernorm");
      model.norm(prefix, at + "post_attention_layernorm");
      model.add(prefix, at + "attention.bias", 1, 1, POSITIONS, POSITIONS);
      model.add(prefix, at + "attention.masked_bias", 1);
      model.add(prefix, at + "attention.rotary_emb.inv_freq", 1);
      model.linear(prefix, at + "attention.query_key_value", 3 * WIDTH, WIDTH, false);
      model.linear(prefix, at + "attention.dense", WIDTH, WIDTH, false);
      model.linear(prefix, at + "mlp.dense_h_to_4h", MLP_WIDTH, WIDTH, false);
      model.linear(prefix, at + "mlp.dense_4h_to_h", WIDTH, MLP_WIDTH, false);
    }
    model.norm(prefix, "final_layer_norm");
    if (!tied) {
      model.add("", "embed_out.weight", VOCABULARY, WIDTH);
    }
    return model;
  }

  private void norm(String prefix, String name) {
    add(prefix, name + ".weight", WIDTH);
    add(prefix, name + ".bias", WIDTH);
  }

  private void linear(String prefix, String name, int outputs, int inputs, boolean conv1d) {
    add(prefix, name + ".weight", conv1d ? inputs : outputs, conv1d ? outputs : inputs);
    add(prefix, name + ".bias", outputs);
  }

  /** Random float32 numbers; gains are around 1. */
  void add(String prefix, String name, int... shape) {
    boolean gain = shape.length == 1 && name.endsWith(".weight");
    float[] floats = new float[Arrays.stream(shape).reduce(1, Math::multiplyExact)];
    double[] doubles = new double[floats.length];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = (float) ((gain ? 1 : 0) + 0.3 * random.nextGaussian());
      doubles[i] = floats[i];
    }
    values.put(name, doubles);
    stored.put(prefix + name, floats);
    List<Long> axes = Arrays.stream(shape).mapToObj(Long::valueOf).toList();
    tensors.add(new Tensor(prefix + name, Dtype.F32, axes));
  }

  /** Of numbers from -1 to 1 that every floating type has. */
  void roundToEighths() {
    stored.forEach(
        (name, floats) -> {
          for (int i = 0; i < floats.length; i++) {
            floats[i] = Math.clamp(Math.round(8 * floats[i]), -8, 8) / 8f;
          }
          double[] doubles = values.get(name.replaceFirst("^(transformer|gpt_neox)\\.", ""));
          Arrays.setAll(doubles, i -> floats[i]);
        });
  }

  void write(Path folder, String config) throws IOException {
    write(folder, config, Dtype.F32, 1);
  }

  /** In one file, or in shards with an index, each having every so many tensors. */
  void write(Path folder, String config, Dtype dtype, int shards) throws IOException {
    Files.writeString(folder.resolve("config.json"), config);
    StringBuilder index = new StringBuilder();
    for (int shard = 0; shard < shards; shard++) {
      String file = shards == 1 ? "model.safetensors" : "part%d.safetensors".formatted(shard);
      List<Tensor> some = new ArrayList<>();
      for (int i = shard; i < tensors.size(); i += shards) {
        some.add(new Tensor(tensors.get(i).name(), dtype, tensors.get(i).shape()));
        index.append(index.isEmpty() ? "" : ", ");
        index.append("\"%s\": \"%s\"".formatted(tensors.get(i).name(), file));
      }
      write(folder.resolve(file), some);
    }
    if (shards > 1) {
      Files.writeString(
          folder.resolve("model.safetensors.index.json"), "{\"weight_map\": {" + index + "}}");
    }
  }

  private void write(Path file, List<Tensor> some) throws IOException {
    try (TensorWriter writer = TensorWriter.create(file, some, Map.of(), true)) {
      for (Tensor tensor : writer.order()) {
        ByteBuffer bytes = ByteBuffer.allocate((int) tensor.bytes()).order(ByteOrder.nativeOrder());
        for (float value : stored.get(tensor.name())) {
          switch (tensor.dtype()) {
            case F64 -> bytes.putDouble(value);
            case F32 -> bytes.putFloat(value);
            case F16 -> bytes.putShort(Float.floatToFloat16(value));
            default -> bytes.putShort((short) (Float.floatToIntBits(value) >>> Short.SIZE));
          }
        }
        writer.write(MemorySegment.ofArray(bytes.array()));
      }
      writer.commit();
    }
  }
}
