package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A small random model whose gains are not 1, whose biases are not 0, and whose means are not 0.
 */
final class TestModel {
  static final int LAYERS = 2;
  static final int WIDTH = 16;
  static final int VOCABULARY = 29;

  private record Numbers(List<Long> shape, double[] values) {}

  private final String config;
  private final Random random;
  private final Map<String, Numbers> tensors = new LinkedHashMap<>();

  private TestModel(String config, long seed) {
    this.config = config;
    this.random = new Random(seed);
  }

  /** LayerNorm with biases, matrices stored (inputs, outputs), a tied head. */
  static TestModel gpt2(int width) {
    TestModel model =
        new TestModel(
            """
            {
              "architectures": ["GPT2LMHeadModel"],
              "model_type": "gpt2",
              "n_embd": %d, "n_layer": %d, "n_head": 4, "n_positions": 12, "vocab_size": %d,
              "layer_norm_epsilon": 1e-05
            }
            """
                .formatted(width, LAYERS, VOCABULARY),
            1);
    model.add("transformer.wte.weight", 0.4, VOCABULARY, width);
    model.add("transformer.wpe.weight", 0.2, 12, width);
    for (int layer = 0; layer < LAYERS; layer++) {
      String h = "transformer.h." + layer + ".";
      model.norm(h + "ln_1", width);
      model.projection(h + "attn.c_attn", width, 3 * width);
      model.projection(h + "attn.c_proj", width, width);
      model.norm(h + "ln_2", width);
      model.projection(h + "mlp.c_fc", width, 4 * width);
      model.projection(h + "mlp.c_proj", 4 * width, width);
    }
    model.norm("transformer.ln_f", width);
    return model;
  }

  /** RMSNorm, matrices stored (outputs, inputs) without biases. */
  static TestModel llama(String type, boolean tied) {
    return llama(type, tied, WIDTH);
  }

  static TestModel llama(String type, boolean tied, int width) {
    TestModel model =
        new TestModel(
            """
            {"architectures":["LlamaForCausalLM"],"model_type":"%s","hidden_size":%d,"num_hidden_layers":%d,
            "num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":%d,"vocab_size":%d,
            "max_position_embeddings":64,"rms_norm_eps":1e-05,"tie_word_embeddings":%s,"hidden_act":"silu"}"""
                .formatted(type, width, LAYERS, 2 * width, VOCABULARY, tied),
            2);
    double offset = type.equals("gemma") ? 1 : 0;
    model.add("model.embed_tokens.weight", 0.4, VOCABULARY, width);
    for (int layer = 0; layer < LAYERS; layer++) {
      String l = "model.layers." + layer + ".";
      model.gain(l + "input_layernorm.weight", offset, width);
      model.add(l + "self_attn.q_proj.weight", 0.1, width, width);
      model.add(l + "self_attn.k_proj.weight", 0.1, width / 2, width);
      model.add(l + "self_attn.v_proj.weight", 0.1, width / 2, width);
      model.add(l + "self_attn.o_proj.weight", 0.1, width, width);
      model.gain(l + "post_attention_layernorm.weight", offset, width);
      model.add(l + "mlp.gate_proj.weight", 0.1, 2 * width, width);
      model.add(l + "mlp.up_proj.weight", 0.1, 2 * width, width);
      model.add(l + "mlp.down_proj.weight", 0.1, width, 2 * width);
    }
    model.gain("model.norm.weight", offset, width);
    if (!tied) {
      model.add("lm_head.weight", 0.1, VOCABULARY, width);
    }
    return model;
  }

  private void norm(String name, int width) {
    gain(name + ".weight", 0, width);
    add(name + ".bias", 0.3, width);
  }

  private void projection(String name, int inputs, int outputs) {
    add(name + ".weight", 0.1, inputs, outputs);
    add(name + ".bias", 0.2, outputs);
  }

  private void gain(String name, double offset, int width) {
    double[] values = new double[width];
    for (int i = 0; i < width; i++) {
      values[i] = (random.nextBoolean() ? 1 : -1) * (0.5 + random.nextDouble()) - offset;
    }
    put(name, values, width);
  }

  private void add(String name, double mean, int... shape) {
    int count = 1;
    for (int length : shape) {
      count *= length;
    }
    double[] values = new double[count];
    for (int i = 0; i < count; i++) {
      values[i] = mean + 0.3 * random.nextGaussian();
    }
    put(name, values, shape);
  }

  /** Puts numbers in place of those of a tensor, or a tensor more. */
  TestModel put(String name, double[] values, int... shape) {
    List<Long> lengths = new ArrayList<>();
    for (int length : shape) {
      lengths.add((long) length);
    }
    tensors.put(name, new Numbers(lengths, values));
    return this;
  }

  double[] values(String name) {
    return tensors.get(name).values;
  }

  /** Writes the model as a folder of one shard or several. */
  Path write(Path folder, Dtype dtype, int shards) throws IOException {
    Files.createDirectory(folder);
    Files.writeString(folder.resolve("config.json"), config);
    List<String> names = List.copyOf(tensors.keySet());
    if (shards == 1) {
      writeShard(folder.resolve("model.safetensors"), names, dtype);
      return folder;
    }
    StringBuilder map = new StringBuilder();
    long bytes = 0;
    for (int shard = 0; shard < shards; shard++) {
      String file = "model-%05d-of-%05d.safetensors".formatted(shard + 1, shards);
      List<String> part =
          names.subList(shard * names.size() / shards, (shard + 1) * names.size() / shards);
      bytes += writeShard(folder.resolve(file), part, dtype);
      for (String name : part) {
        map.append(map.isEmpty() ? "" : ",\n").append("    \"%s\": \"%s\"".formatted(name, file));
      }
    }
    Files.writeString(
        folder.resolve("model.safetensors.index.json"),
        "{\n  \"metadata\": {\"total_size\": %d},\n  \"weight_map\": {\n%s\n  }\n}\n"
            .formatted(bytes, map));
    return folder;
  }

  private long writeShard(Path path, List<String> names, Dtype dtype) throws IOException {
    List<Tensor> list =
        names.stream().map(name -> new Tensor(name, dtype, tensors.get(name).shape)).toList();
    try (TensorWriter writer = TensorWriter.create(path, list, Map.of("format", "pt"), false)) {
      for (String name : names) {
        writer.write(encoded(tensors.get(name).values, dtype));
      }
      writer.commit();
    }
    return list.stream().mapToLong(Tensor::bytes).sum();
  }

  private static MemorySegment encoded(double[] values, Dtype dtype) {
    MemorySegment bytes = Arena.ofAuto().allocate((long) values.length * dtype.bits() / 8, 8);
    for (int i = 0; i < values.length; i++) {
      dtype.elementType().orElseThrow().set(bytes, i, values[i]);
    }
    return bytes;
  }

  /** The numbers of a tensor of a stored model. */
  static double[] read(Path folder, String name) throws IOException {
    try (TensorFile file = TensorFile.open(folder)) {
      Tensor tensor = file.tensor(name);
      MemorySegment bytes = Arena.ofAuto().allocate(tensor.bytes(), 8);
      file.read(tensor, 0, tensor.elements(), bytes);
      double[] values = new double[(int) tensor.elements()];
      tensor.dtype().decode(bytes, values, values.length);
      return values;
    }
  }
}
