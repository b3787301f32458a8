package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.models.rewrite.RefusedException;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models as they are found: settings left out, tensors stored twice, types mixed. */
class VariantTest extends WithRewriter {
  private static TinyModel model(String layout) {
    return Layouts.ALL.get(layout).model(StoredType.F64, 21);
  }

  private static TinyModel without(TinyModel model, String setting) {
    Map<String, Object> config = new LinkedHashMap<>(model.config());
    config.remove(setting);
    return new TinyModel(config, model.tensors());
  }

  private static void assertSameTensors(TinyModel a, TinyModel b) {
    assertThat(a.tensors().keySet()).isEqualTo(b.tensors().keySet());
    a.tensors()
        .forEach(
            (tensor, values) ->
                assertThat(b.get(tensor).elements()).as(tensor).isEqualTo(values.elements()));
  }

  /** The default of tie_word_embeddings is another one in each family. */
  @ParameterizedTest
  @CsvSource({
    "llama, false", "mistral, false", "qwen2, false", "qwen3, false", "phi3, false", "olmo2, false",
    "gemma, true", "gemma2, true", "gemma3, true", "gpt2, true", "opt, true", "gpt_neox, false",
    "t5, true"
  })
  void whetherTheHeadIsTiedMayBeLeftOut(String name, boolean tied) throws IOException {
    TinyModel model = model(name);
    assertThat(model.flag("tie_word_embeddings")).isEqualTo(tied);
    TinyModel silent = without(model, "tie_word_embeddings");
    assertSameTensors(rewriter.fold(model), rewriter.fold(silent));
    TinyModel untied = rewriter.foldUntied(silent);
    assertSameTensors(rewriter.foldUntied(model), untied);
    boolean own = untied.tensors().size() > model.tensors().size();
    assertThat(untied.config().get("tie_word_embeddings")).isEqualTo(own ? false : null);
  }

  /** Epsilon is the family's default where config.json has none. */
  @ParameterizedTest
  @CsvSource({"gpt2, layer_norm_epsilon, 1e-5", "gpt_neox, layer_norm_eps, 1e-5"})
  void epsilonMayBeLeftOut(String name, String setting, double epsilon) throws IOException {
    TinyModel converted = rewriter.convert(without(model(name), setting));
    assertThat(converted.config()).doesNotContainKey(setting);
    TinyModel model = model(name).with(setting, epsilon);
    assertThat(Logits.distance(model, converted.with(setting, epsilon))).isLessThan(1e-12);
  }

  /** Version 4 of transformers does not read a second head, and version 5 does. */
  @ParameterizedTest
  @ValueSource(strings = {"llama-tied", "gemma2", "t5-gated-tied"})
  void aTiedHeadIsNotUntiedWhereAnotherOneIsStored(String name) throws IOException {
    TinyModel model = model(name);
    TinyModel other = Layouts.ALL.get(name).model(StoredType.F64, 22);
    String embedding = name.startsWith("t5") ? "shared.weight" : "model.embed_tokens.weight";
    TinyModel twice = model.with("lm_head.weight", other.get(embedding));
    assertThatThrownBy(() -> rewriter.foldUntied(twice))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("lm_head.weight is not " + embedding)
        .hasMessageContaining("Programs disagree on which is the head");
    assertThat(Logits.distance(model, rewriter.fold(twice))).isLessThan(1e-12);
    TinyModel copied = model.with("lm_head.weight", model.get(embedding));
    assertSameTensors(rewriter.foldUntied(model), rewriter.foldUntied(copied));
  }

  /** Version 5 of transformers says in a setting whether T5's logits are scaled, tied or not. */
  @ParameterizedTest
  @CsvSource({"t5, true", "t5, false", "t5-gated-tied, true"})
  void aSettingSaysWhetherTheHeadIsScaled(String name, boolean scaled) throws IOException {
    TinyModel model = model(name).with("scale_decoder_outputs", scaled);
    TinyModel untied = rewriter.foldUntied(model);
    assertThat(untied.config().get("scale_decoder_outputs")).isEqualTo(false);
    double[] embedding = model.get("shared.weight").elements();
    double[] gain = model.get("decoder.final_layer_norm.weight").elements();
    double scale = scaled ? 1 / Math.sqrt(24) : 1;
    for (int i = 0; i < embedding.length; i++) {
      assertThat(untied.get("lm_head.weight").elements()[i])
          .isCloseTo(embedding[i] * scale * gain[i % 24], within(1e-15));
    }
  }

  /** T5's first files have its embedding three times, and a bias of distances that is not used. */
  @Test
  void copiesOfT5sEmbedding() throws IOException {
    TinyModel model = model("t5");
    Values shared = model.get("shared.weight");
    String bias = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";
    Values distances =
        model.get("decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight");
    TinyModel copies =
        model
            .with("encoder.embed_tokens.weight", shared)
            .with("decoder.embed_tokens.weight", shared)
            .with("lm_head.weight", shared)
            .with(bias, distances);
    TinyModel folded = rewriter.foldUntied(copies);
    assertThat(Logits.distance(model, folded)).isLessThan(1e-12);
    for (String kept :
        List.of("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", bias)) {
      assertThat(folded.get(kept).elements()).isEqualTo(copies.get(kept).elements());
    }
  }

  /** An encoder alone: nothing here takes the output of its last norm. */
  @Test
  void t5WithoutDecoder() throws IOException {
    TinyModel model = model("t5");
    Map<String, Values> tensors = new LinkedHashMap<>(model.tensors());
    tensors.keySet().removeIf(tensor -> tensor.startsWith("decoder."));
    TinyModel folded = rewriter.fold(new TinyModel(model.config(), tensors));
    String last = "encoder.final_layer_norm.weight";
    assertThat(folded.get(last).elements()).isEqualTo(model.get(last).elements());
    tensors.keySet().removeIf(tensor -> !tensor.startsWith("encoder.") || tensor.equals(last));
    TinyModel whole = rewriter.fold(model);
    for (String tensor : tensors.keySet()) {
      assertThat(folded.get(tensor).elements()).isEqualTo(whole.get(tensor).elements());
    }
  }

  /** Gemma 3 with images has its text model within, under another prefix and in text_config. */
  @ParameterizedTest
  @ValueSource(strings = {"language_model.model.", "model.language_model."})
  void gemma3WithinAnotherModel(String prefix) throws IOException {
    TinyModel text = model("gemma3");
    Map<String, Object> config = new LinkedHashMap<>();
    config.put("architectures", List.of("Gemma3ForConditionalGeneration"));
    config.put("model_type", "gemma3");
    config.put("text_config", text.config());
    config.put("vision_config", Map.of("model_type", "siglip_vision_model", "hidden_size", 8));
    TinyModel whole = new TinyModel(config, Map.of());
    String vision = prefix.startsWith("model.") ? "model.vision_tower." : "vision_tower.";
    String norm = vision + "vision_model.encoder.layers.0.layer_norm1.weight";
    whole = whole.with(norm, text.get("model.layers.0.self_attn.q_norm.weight"));
    for (Map.Entry<String, Values> tensor : text.tensors().entrySet()) {
      whole = whole.with(tensor.getKey().replace("model.", prefix), tensor.getValue());
    }
    TinyModel folded = rewriter.fold(whole);
    assertThat(folded.config()).isEqualTo(whole.config());
    assertThat(folded.get(norm).elements()).isEqualTo(whole.get(norm).elements());
    TinyModel alone = rewriter.fold(text);
    alone
        .tensors()
        .forEach(
            (tensor, values) ->
                assertThat(folded.get(tensor.replace("model.", prefix)).elements())
                    .as(tensor)
                    .isEqualTo(values.elements()));
  }

  /** Norms are often stored in float32 beside matrices of 16 bits. */
  @Test
  void mixedTypes() throws IOException {
    TinyModel model = Layouts.ALL.get("gpt2").model(StoredType.BF16, 23);
    for (String tensor : List.copyOf(model.tensors().keySet())) {
      if (tensor.matches(".*ln_..*")) {
        Values values = model.get(tensor);
        double[] finer = Arrays.stream(values.elements()).map(v -> (float) (v * 1.001)).toArray();
        model = model.with(tensor, new Values(StoredType.F32, values.shape(), finer));
      }
    }
    TinyModel narrow = rewriter.fold(model);
    TinyModel wide = rewriter.fold(model.withFloats(StoredType.F64));
    assertThat(Logits.distance(model, wide)).isLessThan(1e-12);
    for (Map.Entry<String, Values> tensor : model.tensors().entrySet()) {
      StoredType type = tensor.getValue().type();
      assertThat(narrow.get(tensor.getKey()).type()).isEqualTo(type);
      double[] exact = wide.get(tensor.getKey()).elements();
      assertThat(narrow.get(tensor.getKey()).elements())
          .as(tensor.getKey())
          .isEqualTo(Arrays.stream(exact).map(type::round).toArray());
    }
  }

  /** GPT-NeoX is seldom tied; then the head that it gets is named as the family names it. */
  @Test
  void aTiedGptNeoX() throws IOException {
    TinyModel model =
        model("gpt_neox").without("embed_out.weight").with("tie_word_embeddings", true);
    TinyModel converted = rewriter.convert(model);
    assertThat(converted.flag("tie_word_embeddings")).isFalse();
    assertThat(converted.get("embed_out.weight").elements())
        .isEqualTo(model.get("gpt_neox.embed_in.weight").elements());
    assertThat(Logits.distance(model, converted)).isLessThan(1e-12);
  }

  /** Norms whose biases have nowhere to go are converted with their gains and biases. */
  @Test
  void optWithoutBiases() throws IOException {
    TinyModel model = model("opt-untied").with("enable_bias", false);
    for (String tensor : List.copyOf(model.tensors().keySet())) {
      model = tensor.matches(".*(_proj|fc.)\\.bias") ? model.without(tensor) : model;
    }
    assertThat(Logits.distance(model, rewriter.fold(model))).isLessThan(1e-12);
    TinyModel converted = rewriter.convert(model);
    assertThat(Logits.distance(model, converted)).isLessThan(1e-12);
    String gain = "model.decoder.layers.1.final_layer_norm.weight";
    assertThat(converted.get(gain).elements()).isEqualTo(model.get(gain).elements());
  }

  /** The result of convert is a model like others: fold finds nothing to do but the last norm. */
  @ParameterizedTest
  @ValueSource(strings = {"gpt2", "gpt_neox-sequential", "opt-untied"})
  void aConvertedModelCanBeFolded(String name) throws IOException {
    TinyModel converted = rewriter.convert(model(name));
    assertSameTensors(converted, rewriter.fold(converted));
  }

  /** A gain of 1 and a bias of 0 leave nothing to do; a head then stays tied. */
  @Test
  void plainNorms() throws IOException {
    TinyModel model = model("llama-tied");
    for (String tensor : List.copyOf(model.tensors().keySet())) {
      if (tensor.contains("norm")) {
        double[] ones = new double[24];
        Arrays.fill(ones, 1);
        model = model.with(tensor, model.get(tensor).with(ones));
      }
    }
    TinyModel folded = rewriter.foldUntied(model);
    assertSameTensors(model, folded);
    assertThat(folded.config()).isEqualTo(model.config());
  }
}
