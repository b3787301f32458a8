package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Stored models of GPT-2's and GPT-NeoX's layouts, against float64 loops over the stored tensors.
 */
class GptLayoutsTest {
  private static final long SEED = 5;
  private static final int[] TOKENS = {3, 12, 0, 7, 7, 1, 9, 4, 11, 2};

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "'', gelu_new, true, false",
    "transformer., gelu_pytorch_tanh, true, false",
    "transformer., gelu, false, false",
    "'', relu, false, false",
    "transformer., gelu_new, false, true",
    "'', gelu_new, true, true",
  })
  void gpt2(String prefix, String activation, boolean tied, boolean converted) throws IOException {
    GptFolder model = GptFolder.gpt2(prefix, tied, SEED);
    model.write(folder, config(GptFolder.GPT2, activation, tied, converted));
    assertLogits(reference(model, false, converted, false, tied, 0, activation));
  }

  @ParameterizedTest
  @CsvSource({
    "true, 2, gelu, false, false",
    "false, 4, gelu, false, false",
    "true, 8, gelu_new, true, false",
    "false, 2, gelu_fast, true, false",
    "true, 2, relu, false, true",
    "false, 2, gelu, false, true",
  })
  void neox(boolean parallel, int rotated, String activation, boolean tied, boolean converted)
      throws IOException {
    GptFolder model = GptFolder.neox(tied, SEED);
    String config =
        config(GptFolder.NEOX, activation, tied, converted)
            .replace("0.25", String.valueOf(rotated / 8.0))
            .replace("residual\": true", "residual\": " + parallel);
    model.write(folder, config);
    assertLogits(reference(model, true, converted, parallel, tied, rotated, activation));
  }

  private static String config(String text, String activation, boolean tied, boolean converted) {
    return text.replaceAll("\"gelu(_new)?\"", '"' + activation + '"')
        .replaceAll("(tie_word_embeddings\": )\\w+", "$1" + tied)
        .replace("model_type\": \"", "model_type\": \"" + (converted ? "rmsnorm4j-" : ""));
  }

  private static ReferenceGpt reference(
      GptFolder model,
      boolean neox,
      boolean rms,
      boolean parallel,
      boolean tied,
      int rotated,
      String activation) {
    return new ReferenceGpt(
        model.values,
        neox,
        rms,
        parallel,
        tied,
        GptFolder.WIDTH,
        GptFolder.LAYERS,
        GptFolder.HEADS,
        rotated,
        100,
        1e-3,
        activation(activation));
  }

  private static DoubleUnaryOperator activation(String name) {
    return switch (name) {
      case "gelu" -> x -> x * (0.5 + integral(x));
      case "relu" -> x -> x > 0 ? x : 0;
      default -> x -> 0.5 * x * (1 + Math.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    };
  }

  /** The density of the normal distribution from 0 to x, by Simpson's rule. */
  private static double integral(double x) {
    int steps = 1000;
    double sum = 0;
    for (int i = 0; i <= steps; i++) {
      double u = x * i / steps;
      int weight = i == 0 || i == steps ? 1 : i % 2 == 0 ? 2 : 4;
      sum += weight * Math.exp(-u * u / 2) / Math.sqrt(2 * Math.PI);
    }
    return sum * x / steps / 3;
  }

  /** Of the whole model, block by block, and token by token. */
  private void assertLogits(ReferenceGpt reference) throws IOException {
    double[][] expected = reference.logits(TOKENS);
    try (Weights weights = ModelFolder.load(folder);
        LayerwiseLogits layerwise = LayerwiseLogits.open(folder);
        Model continuing = Model.continuing(weights, TOKENS.length, Arithmetic.PLAIN)) {
      float[] logits = LayerwiseLogitsTest.whole(weights, TOKENS);
      for (int i = 0; i < logits.length; i++) {
        double wanted = expected[i / GptFolder.VOCABULARY][i % GptFolder.VOCABULARY];
        assertThat((double) logits[i]).as("logit %d", i).isCloseTo(wanted, within(1e-5));
      }
      assertThat(layerwise.logits(TOKENS, MatrixChange.NONE)).isEqualTo(logits);
      for (int t = 0; t < TOKENS.length; t++) {
        continuing.forward(new int[] {TOKENS[t]});
        int first = t * GptFolder.VOCABULARY;
        assertThat(continuing.logits().toArray(ValueLayout.JAVA_FLOAT))
            .isEqualTo(Arrays.copyOfRange(logits, first, first + GptFolder.VOCABULARY));
      }
    }
    assertThat(LayerwiseLogits.unsupported(folder)).isEmpty();
  }

  @Test
  void qwen2HasBiasesOfQueriesKeysAndValues() throws IOException {
    BlockForm form =
        new BlockForm(MlpKind.SWIGLU, BlockForm.Biases.QUERY_KEY_VALUE, 1, false, false);
    ModelConfig config =
        Configs.tiny(
            o -> {
              o.keyValueHeads = 2;
              o.form = form;
            });
    try (Weights weights = Configs.weights(config, SEED)) {
      saveAsQwen2(weights);
      int[] tokens = {3, 1, 4, 1, 5};
      try (Weights loaded = ModelFolder.load(folder);
          LayerwiseLogits layerwise = LayerwiseLogits.open(folder)) {
        assertThat(loaded.config()).isEqualTo(config);
        float[] logits = LayerwiseLogitsTest.whole(loaded, tokens);
        double[][] expected = new ReferenceModel(weights, tokens.length).logits(tokens);
        for (int i = 0; i < logits.length; i++) {
          assertThat((double) logits[i]).isCloseTo(expected[i / 11][i % 11], within(1e-5));
        }
        assertThat(layerwise.logits(tokens, MatrixChange.NONE)).isEqualTo(logits);
      }
    }
  }

  /** A folder that this library does not save. */
  private void saveAsQwen2(Weights weights) throws IOException {
    String text = ConfigJson.write(Configs.tiny(o -> o.keyValueHeads = 2));
    Files.writeString(folder.resolve("config.json"), text.replace("\"llama\"", "\"qwen2\""));
    Path file = folder.resolve("model.safetensors");
    try (TensorWriter writer =
        TensorWriter.create(file, weights.config().tensors(""), Map.of(), false)) {
      weights.write(writer);
      writer.commit();
    }
  }

  @Test
  void suchModelsAreNotTrainedAndNotSaved() throws IOException {
    GptFolder.gpt2("", true, SEED).write(folder, GptFolder.GPT2);
    try (Weights weights = ModelFolder.load(folder);
        Model model = new Model(weights, 1, 4, 1, Arithmetic.PLAIN)) {
      model.forward(new int[] {1, 2, 3, 4});
      model.loss(new int[] {2, 3, 4, 5});
      assertThatThrownBy(model::backward)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("a model with other blocks than a Llama's has no backward pass");
      assertThatThrownBy(() -> ModelFolder.save(folder.resolve("copy"), weights))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("only models of Llama's form are saved");
      assertThat(folder.resolve("copy")).doesNotExist();
    }
  }

  @Test
  void theMlpOfGpt2IsFourTimesAsWideUnlessToldOtherwise() throws IOException {
    String config = GptFolder.GPT2.replace("\"n_inner\": 20", "\"n_inner\": null");
    assertThat(ModelConfig.parse(folder, config).mlpWidth()).isEqualTo(96);
    String untold = GptFolder.GPT2.replace(", \"tie_word_embeddings\": true", "");
    assertThat(ModelConfig.parse(folder, untold).tied()).isTrue();
  }

  /** They have the width of a window that they do not use. */
  @Test
  void aQwen2MayHaveAWindowThatItDoesNotUse() throws IOException {
    String text = ConfigJson.write(Configs.tiny()).replace("\"llama\"", "\"qwen2\"");
    String window = text.replaceFirst("\\{", "{\"sliding_window\": 32768,");
    assertThat(ModelConfig.parse(folder, window)).isEqualTo(ModelConfig.parse(folder, text));
    String used = window.replaceFirst("\\{", "{\"use_sliding_window\": true,");
    assertThatThrownBy(() -> ModelConfig.parse(folder, used))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("use_sliding_window is true, it must be false");
  }

  @Test
  void newerFilesOfNeoxHaveTheRotationInAnObject() throws IOException {
    String config =
        GptFolder.NEOX.replace(
            "\"rotary_pct\": 0.25, \"rotary_emb_base\": 100",
            "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 600,"
                + " \"partial_rotary_factor\": 0.5}");
    ModelConfig model = ModelConfig.parse(folder, config);
    assertThat(model.ropeTheta()).isEqualTo(600);
    assertThat(model.form().rotaryShare()).isEqualTo(0.5);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "gpt2 | \"scale_attn_weights\": true | \"scale_attn_weights\": false | scale_attn_weights is false, it must be true",
        "gpt2 | \"attn_pdrop\": 0.1 | \"scale_attn_by_inverse_layer_idx\": true | scale_attn_by_inverse_layer_idx is true, it must be false",
        "gpt2 | \"attn_pdrop\": 0.1 | \"add_cross_attention\": true | add_cross_attention is true, it must be false",
        "gpt2 | \"attn_pdrop\": 0.1 | \"rmsnorm4j_placement\": \"sandwich\" | has no tensor 'model.layers.0.pre_feedforward_layernorm.weight'",
        "gpt2 | \"attn_pdrop\": 0.1 | \"rmsnorm4j_norm\": \"none\" | 'h.0.ln_1.weight' is not of the model",
        "gpt_neox | \"attention_bias\": true | \"rmsnorm4j_placement\": \"post\" | placement is POST, it must be PRE in parallel blocks",
        "gpt2 | \"gelu_new\" | \"silu\" | activation_function is silu, it must be gelu, gelu_new",
        "gpt2 | \"n_head\": 3 | \"n_head\": 5 | n_head is 5, it must divide n_embd, 24",
        "gpt2 | \"n_head\": 3 | \"n_head\": 0 | n_head is 0, it must be a whole number from 1 to",
        "gpt2 | \"n_layer\": 2, | | lacks n_layer",
        "gpt2 | \"n_positions\": 10 | \"n_positions\": 11 | 'wpe.weight' has the shape [10, 24], it must be [11, 24]",
        "gpt2 | \"n_inner\": 20 | \"n_inner\": 21 | 'h.0.mlp.c_fc.weight' has the shape [24, 20], it must be [24, 21]",
        "gpt2 | \"tie_word_embeddings\": true | \"tie_word_embeddings\": false | has no tensor 'lm_head.weight'",
        "gpt2 | \"n_layer\": 2 | \"n_layer\": 1 | 'h.1.",
        "gpt2 | \"gpt2\" | \"gpt3\" | model_type is gpt3, it must be one of llama, mistral",
        "gpt2 | \"n_embd\": 24 | \"n_embd\": 900000000 | n_embd is 900000000, it must be a whole number from 1 to 16777216",
        "gpt2 | \"n_embd\": 24 | \"n_embd\": 90000000 | n_embd is 90000000, it must be a whole number from 1 to 16777216",
        "gpt2 | \"n_inner\": 20 | \"n_inner\": 0 | n_inner is 0, it must be a whole number from 1 to",
        "gpt2 | \"layer_norm_epsilon\": 1e-03 | \"layer_norm_epsilon\": -1 | epsilon is -1.0, it must be finite",
        "gpt_neox | \"gelu\" | \"silu\" | hidden_act is silu, it must be gelu",
        "gpt_neox | \"attention_bias\": true | \"attention_bias\": false | 'gpt_neox.layers.0.attention.query_key_value.bias' is not of the model",
        "gpt_neox | \"attention_bias\": true | \"partial_rotary_factor\": 0.5 | partial_rotary_factor is 0.5, it must be as rotary_pct, 0.25",
        "gpt_neox | \"attention_bias\": true | \"rope_theta\": 10000 | rope_theta is 10000.0, it must be as rotary_emb_base, 100.0",
        "gpt_neox | \"attention_bias\": true | \"rope_scaling\": {\"rope_theta\": 7} | rope_scaling.rope_theta is 7.0, it must be as rotary_emb_base, 100.0",
        "gpt_neox | \"rotary_pct\": 0.25 | \"rotary_pct\": 0 | rotary_pct is 0.0, it must be above 0 and at most 1",
        "gpt_neox | \"rotary_pct\": 0.25 | \"rotary_pct\": 2 | rotary_pct is 2.0, it must be above 0",
        "gpt_neox | \"rotary_pct\": 0.25 | \"rotary_pct\": 0.01 | headWidth is 8, it must have an even part",
        "gpt_neox | \"rotary_pct\": 0.25 | \"rotary_pct\": 0.4 | headWidth is 8, it must have an even part of 0.4",
        "gpt_neox | \"attention_bias\": true | \"rope_scaling\": {\"type\": \"linear\"} | rope_scaling.type is linear, it must be default",
        "gpt_neox | \"use_parallel_residual\": true | \"use_parallel_residual\": 1 | use_parallel_residual is 1, it must be true or false",
        "gpt_neox | \"intermediate_size\": 20, | | lacks intermediate_size",
      })
  void wrongConfigs(String family, String from, String to, String message) throws IOException {
    boolean gpt2 = family.equals("gpt2");
    String config = gpt2 ? GptFolder.GPT2 : GptFolder.NEOX;
    assertThat(config).contains(from);
    GptFolder model = gpt2 ? GptFolder.gpt2("", true, SEED) : GptFolder.neox(false, SEED);
    model.write(folder, config.replace(from, to == null ? "" : to));
    assertThatThrownBy(() -> ModelFolder.load(folder))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(message)
        .extracting(Throwable::getMessage)
        .asString()
        .doesNotContain("\n");
    assertThat(LayerwiseLogits.unsupported(folder)).isPresent();
  }

  /** Eighths from -1 to 1 are exact in every type. */
  @ParameterizedTest
  @CsvSource({
    "false, F64, 1", "false, F32, 3", "false, F16, 2", "false, BF16, 3",
    "true, F64, 2", "true, F32, 1", "true, F16, 3", "true, BF16, 1"
  })
  void everyFloatingTypeInShardsOrNot(boolean neox, Dtype dtype, int shards) throws IOException {
    GptFolder model = neox ? GptFolder.neox(false, SEED) : GptFolder.gpt2("", true, SEED);
    model.roundToEighths();
    model.write(folder, neox ? GptFolder.NEOX : GptFolder.GPT2, dtype, shards);
    String activation = neox ? "gelu" : "gelu_new";
    assertLogits(reference(model, neox, false, neox, !neox, neox ? 2 : 0, activation));
  }

  @ParameterizedTest
  @ValueSource(strings = {"h.0.crossattention.c_attn.weight", "lm_head.bias", "h.0.attn.biases"})
  void aTensorThatTheModelLacksIsNamed(String name) throws IOException {
    GptFolder model = GptFolder.gpt2("", true, SEED);
    model.add("", name, 2);
    model.write(folder, GptFolder.GPT2);
    assertThatThrownBy(() -> ModelFolder.load(folder))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("'" + name + "' is not of the model");
  }

  @Test
  void aStoredCopyOfATiedHeadIsPassedOver() throws IOException {
    GptFolder model = GptFolder.neox(false, SEED);
    model.write(folder, GptFolder.NEOX.replace("embeddings\": false", "embeddings\": true"));
    assertThat(LayerwiseLogits.unsupported(folder)).isEmpty();
  }

  /** A piece of a large tensor may end within a row. */
  @ParameterizedTest
  @CsvSource({"1, 5, false", "1, 5, true", "3, 5, false", "3, 5, true", "3, 1, false"})
  void piecesOfATensorGoWhereAllOfItGoes(int count, int run, boolean inputsFirst) {
    int elements = 5 * 6;
    List<Parameter> parts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      parts.add(new Parameter("p" + i, "w", List.of(5, 6), 32L * i));
    }
    StoredTensor stored = new StoredTensor("w", parts, run, inputsFirst);
    float[] values = new float[count * elements];
    for (int i = 0; i < values.length; i++) {
      values[i] = i + 1;
    }
    float[] atOnce = new float[32 * count];
    stored.put(0, values, MemorySegment.ofArray(atOnce));
    float[] inPieces = new float[32 * count];
    for (int i = 0; i < values.length; i += 4) {
      float[] piece = Arrays.copyOfRange(values, i, Math.min(i + 4, values.length));
      stored.put(i, piece, MemorySegment.ofArray(inPieces));
    }
    assertThat(inPieces).isEqualTo(atOnce);
    assertThat(atOnce).contains(values).hasSize(32 * count);
  }

  /** Perturbed by stored place, so that fused and transposed tensors have their own order. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aChangeHasTheOrderOfTheFile(boolean neox) throws IOException {
    GptFolder model =
        neox ? GptFolder.neox(false, SEED) : GptFolder.gpt2("transformer.", true, SEED);
    model.write(folder, neox ? GptFolder.NEOX : GptFolder.GPT2);
    String prefix = neox ? "gpt_neox." : "transformer.";
    MatrixChange change =
        (tensor, first, values) -> {
          for (int i = 0; i < values.length; i++) {
            values[i] += 0x1p-6f * new Random(tensor.hashCode() + first + i).nextFloat();
          }
        };
    float[] logits;
    try (LayerwiseLogits layerwise = LayerwiseLogits.open(folder)) {
      logits = layerwise.logits(TOKENS, change);
    }
    model.values.replaceAll(
        (name, values) -> {
          float[] floats = new float[values.length];
          for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
          }
          boolean head = name.equals("embed_out.weight");
          change.change(head ? name : prefix + name, 0, floats);
          double[] changed = new double[values.length];
          Arrays.setAll(changed, i -> floats[i]);
          return changed;
        });
    double[][] expected =
        reference(model, neox, false, neox, !neox, neox ? 2 : 0, neox ? "gelu" : "gelu_new")
            .logits(TOKENS);
    for (int i = 0; i < logits.length; i++) {
      double wanted = expected[i / GptFolder.VOCABULARY][i % GptFolder.VOCABULARY];
      assertThat((double) logits[i]).isCloseTo(wanted, within(1e-5));
    }
  }

  /** Values of tables. */
  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1e-10, 1.1283791670955126e-10",
    "0.1, 0.1124629160182849",
    "0.5, 0.5204998778130465",
    "1, 0.8427007929497149",
    "-2, -0.9953222650189527",
    "3, 0.9999779095030014",
    "5, 0.9999999999984626",
    "5.999, 1",
    "100, 1",
    "-Infinity, -1"
  })
  void erf(double x, double expected) {
    assertThat(MlpKind.erf(x)).isCloseTo(expected, within(1e-14 * Math.abs(expected)));
  }

  @Test
  void weightsTakeNoMemoryForGradientsUntilTheyAreAskedFor() throws ReflectiveOperationException {
    Field gradients = Weights.class.getDeclaredField("gradients");
    gradients.setAccessible(true);
    try (Weights weights = new Weights(Configs.tiny()).initialise(1);
        Model model = new Model(weights, 1, 2, 1, Arithmetic.PLAIN)) {
      weights.zeroGradients();
      model.forward(new int[] {1, 2});
      assertThat(gradients.get(weights)).isNull();
      model.loss(new int[] {2, 3});
      model.backward();
      assertThat(gradients.get(weights)).isNotNull();
      Parameter parameter = weights.parameters().getFirst();
      MemorySegment gradient = weights.gradient(parameter);
      assertThat(gradient.mismatch(weights.values(parameter))).isNotEqualTo(-1);
    }
  }
}
