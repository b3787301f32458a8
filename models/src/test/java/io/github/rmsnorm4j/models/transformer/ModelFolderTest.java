package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Models in folders as Hugging Face has them. */
class ModelFolderTest {
  private static final long SEED = 7;

  /** A Llama of two blocks as its makers would store it, with grouped heads and its own head. */
  private static final String LLAMA =
      """
      {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
       "hidden_size": 8, "intermediate_size": 6, "num_hidden_layers": 2, "num_attention_heads": 4,
       "num_key_value_heads": 2, "vocab_size": 9, "max_position_embeddings": 16,
       "rms_norm_eps": 1e-05, "rope_theta": 500.0, "rope_scaling": null, "attention_bias": false,
       "tie_word_embeddings": false, "bos_token_id": 1, "torch_dtype": "bfloat16"}
      """;

  @TempDir Path folder;

  static List<ModelConfig> configs() {
    return Configs.all();
  }

  @ParameterizedTest
  @MethodSource("configs")
  void whatIsSavedIsLoaded(ModelConfig config) throws IOException {
    try (Weights saved = Configs.weights(config, SEED)) {
      ModelFolder.save(folder, saved);
      try (Weights loaded = ModelFolder.load(folder)) {
        assertThat(loaded.config()).isEqualTo(config);
        assertThat(loaded.values().mismatch(saved.values())).isEqualTo(-1);
      }
    }
  }

  /** Files that were saved while heads could have gates. */
  @Test
  void aGateThatIsNoneIsNoGate() throws IOException {
    String text = ConfigJson.write(Configs.tiny());
    String older = text.replaceFirst("\\{", "{\"rmsnorm4j_head_gate\" : \"none\",");
    assertThat(older).isNotEqualTo(text);
    assertThat(ModelConfig.parse(folder, older)).isEqualTo(Configs.tiny());
  }

  @Test
  void aPreNormModelWithRmsNormIsALlama() {
    assertThat(ConfigJson.write(Configs.tiny()))
        .contains("\"model_type\" : \"llama\"", "\"LlamaForCausalLM\"");
    assertThat(ConfigJson.write(Configs.tiny(o -> o.queryKeyNorm = true)))
        .contains("\"model_type\" : \"qwen3\"", "\"Qwen3ForCausalLM\"");
    assertThat(ConfigJson.write(Configs.tiny(o -> o.placement = Placement.SANDWICH)))
        .contains("\"model_type\" : \"rmsnorm4j\"")
        .doesNotContain("architectures");
  }

  @ParameterizedTest
  @EnumSource(names = {"F64", "F32", "F16", "BF16"})
  void aStoredLlamaRunsForwardInEveryFloatingType(Dtype dtype) throws IOException {
    Files.writeString(folder.resolve("config.json"), LLAMA);
    writeWeights(llamaTensors(dtype), dtype);

    int[] tokens = {1, 2, 3, 4, 5, 6, 7, 8};
    try (Weights weights = ModelFolder.load(folder);
        Model model = new Model(weights, 1, tokens.length, 1, Configs.ARITHMETIC)) {
      assertThat(weights.config().parameterCount())
          .isEqualTo(2 * 72 + 2 * (2 * 64 + 2 * 32 + 3 * 48 + 16) + 8);
      model.forward(tokens);
      double[][] expected = new ReferenceModel(weights, tokens.length).logits(tokens);
      for (int t = 0; t < tokens.length; t++) {
        for (int v = 0; v < 9; v++) {
          float logit = model.logits().getAtIndex(ValueLayout.JAVA_FLOAT, t * 9L + v);
          assertThat((double) logit).isCloseTo(expected[t][v], within(1e-5));
        }
      }
      assertThat(
              weights
                  .values(weights.parameter("model.norm.weight"))
                  .getAtIndex(ValueLayout.JAVA_FLOAT, 3))
          .isEqualTo(value("model.norm.weight", 3));
    }
  }

  private static List<Tensor> llamaTensors(Dtype dtype) {
    List<Tensor> tensors = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      String block = "model.layers." + i + ".";
      tensors.add(tensor(block + "input_layernorm.weight", dtype, 8));
      tensors.add(tensor(block + "post_attention_layernorm.weight", dtype, 8));
      tensors.add(tensor(block + "self_attn.q_proj.weight", dtype, 8, 8));
      tensors.add(tensor(block + "self_attn.k_proj.weight", dtype, 4, 8));
      tensors.add(tensor(block + "self_attn.v_proj.weight", dtype, 4, 8));
      tensors.add(tensor(block + "self_attn.o_proj.weight", dtype, 8, 8));
      tensors.add(tensor(block + "mlp.gate_proj.weight", dtype, 6, 8));
      tensors.add(tensor(block + "mlp.up_proj.weight", dtype, 6, 8));
      tensors.add(tensor(block + "mlp.down_proj.weight", dtype, 8, 6));
      tensors.add(tensor(block + "self_attn.rotary_emb.inv_freq", dtype, 1));
    }
    tensors.add(tensor("model.norm.weight", dtype, 8));
    tensors.add(tensor("lm_head.weight", dtype, 9, 8));
    tensors.add(tensor("model.embed_tokens.weight", dtype, 9, 8));
    return tensors;
  }

  private static Tensor tensor(String name, Dtype dtype, long... shape) {
    return new Tensor(name, dtype, Arrays.stream(shape).boxed().toList());
  }

  /** Exact in every type: eighths between -1 and 1. */
  private static float value(String name, long i) {
    return (Math.floorMod(name.hashCode() * 31 + i * 7, 17) - 8) / 8f;
  }

  private void writeWeights(List<Tensor> tensors, Dtype dtype) throws IOException {
    try (TensorWriter writer =
        TensorWriter.create(folder.resolve("model.safetensors"), tensors, Map.of(), true)) {
      for (Tensor tensor : writer.order()) {
        ByteBuffer bytes = ByteBuffer.allocate((int) tensor.bytes()).order(ByteOrder.nativeOrder());
        for (long i = 0; i < tensor.elements(); i++) {
          float value = value(tensor.name(), i);
          switch (dtype) {
            case F64 -> bytes.putDouble(value);
            case F32 -> bytes.putFloat(value);
            case F16 -> bytes.putShort(Float.floatToFloat16(value));
            default -> bytes.putShort((short) (Float.floatToIntBits(value) >>> 16));
          }
        }
        writer.write(MemorySegment.ofArray(bytes.array()));
      }
      writer.commit();
    }
  }

  @Test
  void savingAgainReplacesTheWeights() throws IOException {
    try (Weights first = Configs.weights(Configs.tiny(), 1);
        Weights second = Configs.weights(Configs.tiny(), 2)) {
      ModelFolder.save(folder, first);
      // As after a crash between the two files.
      Files.delete(folder.resolve("model.safetensors"));
      ModelFolder.save(folder, first);
      ModelFolder.save(folder, second);
      try (Weights loaded = ModelFolder.load(folder)) {
        assertThat(loaded.values().mismatch(second.values())).isEqualTo(-1);
      }
      try (var files = Files.list(folder)) {
        assertThat(files.map(f -> f.getFileName().toString()))
            .containsExactlyInAnyOrder("config.json", "model.safetensors");
      }
    }
  }

  @Test
  void aFolderOfAnotherModelIsLeftAlone() throws IOException {
    try (Weights first = Configs.weights(Configs.tiny(), 1);
        Weights other = Configs.weights(Configs.tiny(o -> o.tied = false), 1)) {
      ModelFolder.save(folder, first);
      assertThatThrownBy(() -> ModelFolder.save(folder, other))
          .isInstanceOf(FileAlreadyExistsException.class)
          .hasMessageContaining("config.json")
          .hasMessageContaining("is of another model");
      Files.delete(folder.resolve("config.json"));
      assertThatThrownBy(() -> ModelFolder.save(folder, first))
          .isInstanceOf(FileAlreadyExistsException.class)
          .hasMessageContaining("without a config.json");
    }
  }

  @Test
  void aMissingTensorIsNamed() throws IOException {
    Files.writeString(folder.resolve("config.json"), LLAMA);
    writeWeights(
        llamaTensors(Dtype.F32).stream().filter(t -> !t.name().contains("1.mlp.up")).toList(),
        Dtype.F32);
    assertThatThrownBy(() -> ModelFolder.load(folder))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("has no tensor 'model.layers.1.mlp.up_proj.weight'");
  }

  @Test
  void aTensorThatTheModelLacksIsNamed() throws IOException {
    Files.writeString(folder.resolve("config.json"), LLAMA);
    List<Tensor> tensors = llamaTensors(Dtype.F32);
    tensors.add(tensor("scaled_fp8", Dtype.F32, 0));
    writeWeights(tensors, Dtype.F32);
    ModelFolder.load(folder).close();
    tensors.add(tensor("model.layers.0.self_attn.q_proj.bias", Dtype.F32, 8));
    writeWeights(tensors, Dtype.F32);
    assertThatThrownBy(() -> ModelFolder.load(folder))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("'model.layers.0.self_attn.q_proj.bias' is not of the model");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"hidden_size\": 8, | \"hidden_size\": 16, | 'model.embed_tokens.weight' has the shape [9, 8], it must be [9, 16]",
        "\"vocab_size\": 9, | | lacks vocab_size",
        "\"vocab_size\": 9, | \"vocab_size\": \"9\", | vocab_size is '9', it must be a number",
        "\"vocab_size\": 9, | \"vocab_size\": 9.5, | vocab_size is 9.5, it must be a whole number",
        "\"vocab_size\": 9, | \"vocab_size\": 0, | vocab_size is 0, it must be a whole number from 1 to",
        "\"vocab_size\": 9, | \"vocab_size\": [9], | vocab_size is a list or an object",
        "\"num_hidden_layers\": 2 | \"num_hidden_layers\": 20000 | layers is 20000, it must be between 1 and 10000",
        "\"num_key_value_heads\": 2 | \"num_key_value_heads\": 3 | keyValueHeads is 3, it must divide heads, 4",
        "\"num_attention_heads\": 4 | \"num_attention_heads\": 3 | num_attention_heads is 3, it must divide hidden_size, 8",
        "\"num_attention_heads\": 4 | \"head_dim\": 2, \"num_attention_heads\": 0 | num_attention_heads is 0, it must be a whole number from 1 to",
        "\"silu\" | \"gelu\" | hidden_act is gelu, it must be silu",
        "\"llama\" | \"gemma2\" | model_type is gemma2, it must be one of llama",
        "\"attention_bias\": false | \"attention_bias\": true | attention_bias is true, it must be false",
        "\"rope_scaling\": null | \"rope_scaling\": {\"factor\": 8} | has rope_scaling.factor, which is not supported",
        "\"rope_scaling\": null | \"rope_scaling\": [1] | has rope_scaling, which is not supported",
        "\"rope_scaling\": null | \"rope_scaling\": {\"type\": \"linear\"} | rope_scaling.type is linear, it must be default",
        "\"rope_scaling\": null | \"rope_parameters\": {\"type\": \"linear\"} | rope_parameters.type is linear, it must be default",
        "\"rope_scaling\": null | \"rope_parameters\": {\"full_attention\": {\"rope_type\": \"linear\"}} | has rope_parameters.full_attention, which",
        "\"rope_scaling\": null | \"rope_parameters\": {\"partial_rotary_factor\": 0.5} | rope_parameters.partial_rotary_factor is 0.5, it must be 1",
        "\"rope_scaling\": null | \"rope_parameters\": [1] | has rope_parameters, which is not supported",
        "\"bos_token_id\": 1 | \"hidden_activation\": \"gelu\" | hidden_activation is gelu, it must be silu",
        "\"bos_token_id\": 1 | \"embedding_multiplier\": 12 | embedding_multiplier is 12, it must be 1",
        "\"bos_token_id\": 1 | \"logits_scaling\": 8 | logits_scaling is 8, it must be 1",
        "\"bos_token_id\": 1 | \"sliding_window\": 4 | has a sliding_window",
        "\"bos_token_id\": 1 | \"rmsnorm4j_norm\": \"batch_norm\" | norm is 'batch_norm', it may be rmsnorm",
        "\"bos_token_id\": 1 | \"rmsnorm4j_norm\": \"rmsnorm(gate=silu)\" | norm is rmsnorm(gate=silu), it must have no gate",
        "\"bos_token_id\": 1 | \"rmsnorm4j_head_gate\": \"silu\" | rmsnorm4j_head_gate is silu, it must be none",
        "\"bfloat16\"} | \"bfloat16\" | is no JSON",
        "\"bfloat16\"} | \"bfloat16\"} {} | continues after its end",
      })
  void wrongConfigs(String from, String to, String message) throws IOException {
    assertThat(LLAMA).contains(from);
    Files.writeString(folder.resolve("config.json"), LLAMA.replace(from, to == null ? "" : to));
    writeWeights(llamaTensors(Dtype.F32), Dtype.F32);
    assertThatThrownBy(() -> ModelFolder.load(folder))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(message)
        .extracting(Throwable::getMessage)
        .asString()
        .doesNotContain("\n");
  }

  static List<String> texts() {
    return List.of(LLAMA, GptFolder.GPT2, GptFolder.NEOX);
  }

  @ParameterizedTest
  @MethodSource("texts")
  void aConfigOfAnyTextIsReadOrRefused(String config) {
    String[] pieces = {
      "0", "-1", "1e9", "1e999", "null", "true", "[", "{", "}", "\"", ",", "8", ".5"
    };
    SeededRandom random = new SeededRandom(SEED, 0);
    int read = 0;
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder(config);
      for (int edits = random.nextInt(4); edits >= 0; edits--) {
        int from = random.nextInt(text.length());
        int to = Math.min(text.length(), from + random.nextInt(3));
        text.replace(from, to, pieces[random.nextInt(pieces.length)]);
      }
      try {
        ModelConfig.parse(folder, text.toString()).parameters();
        read++;
      } catch (FormatException e) {
        assertThat(e.getMessage()).doesNotContain("\n").hasSizeLessThan(400);
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + SEED + ", text " + i + ": " + text, e);
      }
    }
    assertThat(read).isBetween(100, 19_900);
  }

  /** Families differ in what they mean by a field that is not there. */
  @Test
  void fieldsThatAreNotThere() throws IOException {
    String text =
        LLAMA.replaceAll(
            "\"(num_key_value_heads|max_position_embeddings|rms_norm_eps|rope_theta)\": [^,]*,",
            "");
    ModelConfig config = ModelConfig.parse(folder, text);
    assertThat(config.keyValueHeads()).isEqualTo(4);
    assertThat(config.maxPositions()).isEqualTo(2048);
    assertThat(config.norm()).isEqualTo(NormSpec.RMSNORM.withEpsilon(1e-6));
    assertThat(config.ropeTheta()).isEqualTo(10_000);
    assertThatThrownBy(() -> ModelConfig.parse(folder, text.replace("\"llama\"", "\"mistral\"")))
        .hasMessageContaining("lacks num_key_value_heads");
    assertThatThrownBy(() -> ModelConfig.parse(folder, LLAMA.replace("\"llama\"", "\"qwen3\"")))
        .hasMessageContaining("lacks head_dim");
    assertThatThrownBy(
            () -> ModelConfig.parse(folder, GptFolder.GPT2.replace("\"n_positions\": 10,", "")))
        .hasMessageContaining("lacks n_positions");
  }

  @Test
  void newerFilesHaveTheRotationInAnObject() throws IOException {
    String newer =
        LLAMA.replace(
            "\"rope_theta\": 500.0",
            "\"rope_parameters\": {\"rope_theta\": 600, \"rope_type\": \"default\"}");
    assertThat(ModelConfig.parse(folder, newer).ropeTheta()).isEqualTo(600);
    String plain =
        LLAMA.replace("\"rope_scaling\": null", "\"rope_scaling\": {\"type\": \"default\"}");
    assertThat(ModelConfig.parse(folder, plain).ropeTheta()).isEqualTo(500);
  }

  @Test
  void sizesWhoseProductNoNumberHoldsAreRefused() {
    String vast =
        LLAMA
            .replaceAll("\"(hidden_size|intermediate_size|vocab_size)\": \\d+", "\"$1\": 16777216")
            .replace(
                "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 10000, \"head_dim\": 4194304");
    assertThatThrownBy(() -> ModelConfig.parse(folder, vast))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("more parameters than a file can hold");
  }

  @Test
  void missingAndOversizedFiles() throws IOException {
    assertThatThrownBy(() -> ModelFolder.load(folder))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining("config.json");
    Files.writeString(folder.resolve("config.json"), LLAMA);
    assertThatThrownBy(() -> ModelFolder.load(folder))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining("model.safetensors");
    Files.writeString(folder.resolve("model.safetensors.index.json"), "{}");
    assertThatThrownBy(() -> ModelFolder.load(folder))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("model.safetensors.index.json");
    Files.write(folder.resolve("config.json"), new byte[(8 << 20) + 1]);
    assertThatThrownBy(() -> ModelFolder.load(folder)).hasMessageContaining("8388609 bytes");
  }
}
