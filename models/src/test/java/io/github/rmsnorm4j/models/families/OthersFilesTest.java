package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.testing.GgufBytes;
import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models as other programs store them: other names, other settings, more than one head. */
class OthersFilesTest {
  private static final TinyModel LLAMA = Layouts.ALL.get("llama").model(StoredType.F32, 3);
  private static final TinyModel TIED = Layouts.ALL.get("llama-tied").model(StoredType.F32, 3);

  @TempDir private Path folder;

  private static Inspection inspect(Path model, Optional<Path> map) throws IOException {
    try (StoredModel stored = StoredModel.open(model)) {
      return Inspection.of(stored, map);
    }
  }

  private Inspection inspect(TinyModel model) throws IOException {
    return inspect(HuggingFaceFolder.write(model, folder.resolve("model"), 1), Optional.empty());
  }

  private static void refused(Path model, String... problems) {
    assertThatThrownBy(() -> inspect(model, Optional.empty()))
        .isInstanceOf(FormatException.class)
        .hasMessageContainingAll(problems)
        .message()
        .hasLineCount(1);
  }

  /** Python writes them, wherever a number may be. */
  @ParameterizedTest
  @ValueSource(strings = {"Infinity", "[0.0, Infinity]", "{\"a\": [-Infinity, {\"b\": NaN}]}"})
  void numbersThatJsonLacks(String value) throws IOException {
    Inspection expected = inspect(LLAMA);
    Path config = folder.resolve("model/config.json");
    String text = Files.readString(config);
    Files.writeString(config, text.replaceFirst("\\{", "{\"time_step_limit\": " + value + ","));
    assertThat(inspect(folder.resolve("model"), Optional.empty())).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "rms_norm_eps, NaN, it must be finite and not negative",
    "rms_norm_eps, Infinity, it must be finite and not negative",
    "num_hidden_layers, -Infinity, it must be a whole number from 0 to 10000"
  })
  void suchANumberIsNoEpsilonAndNoCount(String key, String value, String problem)
      throws IOException {
    Path model = HuggingFaceFolder.write(LLAMA, folder, 1);
    Path config = model.resolve("config.json");
    String text = Files.readString(config);
    Files.writeString(config, text.replaceFirst("(\"" + key + "\" : )[^,]*", "$1" + value));
    refused(model, key + " is " + value, problem);
  }

  /** Some programs mark a file by one. Nothing can go into it, so no rule has to name it. */
  @Test
  void aTensorWithoutElementsIsKnown() throws IOException {
    Inspection expected = inspect(LLAMA);
    Values none = new Values(StoredType.F32, List.of(0, 16), new double[0]);
    assertThat(inspect(LLAMA.with("marker", none))).isEqualTo(expected);
    Values one = new Values(StoredType.F32, List.of(1), new double[1]);
    assertThat(inspect(LLAMA.with("scale", one)).model().unknown()).containsExactly("scale");
  }

  private static TinyModel with(TinyModel model, UnaryOperator<Map<String, Object>> settings) {
    return new TinyModel(settings.apply(new LinkedHashMap<>(model.config())), model.tensors());
  }

  /** As transformers 5 has them. */
  @ParameterizedTest
  @ValueSource(strings = {"layers_block_type", "layer_types", "hybrid_override_pattern"})
  void layersThatAreListedAreCounted(String key) throws IOException {
    Object list =
        key.endsWith("pattern") ? "M-*" : List.of("attention", "mamba", "linear_attention");
    UnaryOperator<Map<String, Object>> listed =
        config -> {
          config.remove("num_hidden_layers");
          config.put(key, list);
          return config;
        };
    Inspection expected = inspect(LLAMA);
    assertThat(inspect(with(LLAMA, listed))).isEqualTo(expected);
    TinyModel inner =
        with(LLAMA, config -> Map.of("model_type", "llama", "text_config", listed.apply(config)));
    assertThat(inspect(inner).norms()).isEqualTo(renamed(expected.norms()));
    // The number goes first.
    assertThat(inspect(LLAMA.with(key, List.of("one")))).isEqualTo(expected);
    refused(
        HuggingFaceFolder.write(
            with(LLAMA, listed).with(key, Collections.nCopies(10_001, "x")), folder, 1),
        key + " is of 10001 layers, it must have at most 10000");
    refused(
        HuggingFaceFolder.write(with(LLAMA, listed).with(key, List.of()), folder, 1),
        key + " is '[]', it must");
    Object text = key.endsWith("pattern") ? "" : "attention";
    refused(
        HuggingFaceFolder.write(with(LLAMA, listed).with(key, text), folder, 1),
        key + " is '" + text + "', it must have an entry for each layer");
  }

  /** The settings of a model within another have another key. */
  private static List<InspectedNorm> renamed(List<InspectedNorm> norms) {
    return norms.stream()
        .map(
            norm ->
                new InspectedNorm(
                    norm.site(),
                    norm.epsilonFrom().map(key -> "text_config." + key),
                    norm.type(),
                    norm.gain()))
        .toList();
  }

  private static TinyModel renamed(TinyModel model, UnaryOperator<String> name) {
    Map<String, Values> tensors = new LinkedHashMap<>();
    model.tensors().forEach((tensor, values) -> tensors.put(name.apply(tensor), values));
    return new TinyModel(model.config(), tensors);
  }

  @ParameterizedTest
  @CsvSource({
    "llama, base_model.model.",
    "llama-tied, _orig_mod.",
    "gpt2, module.",
    "gpt2-prefixed, module.",
    "gemma3, model.wrapped.",
    "t5, module._orig_mod."
  })
  void aPrefixBeforeAllNamesIsTakenAsAPartOfThem(String name, String prefix) throws IOException {
    TinyModel model = Layouts.ALL.get(name).model(StoredType.F32, 4);
    Inspection plain = inspect(model);
    Inspection found = inspect(renamed(model, tensor -> prefix + tensor));
    assertThat(found.norms().stream().map(norm -> norm.site().name()))
        .isEqualTo(plain.norms().stream().map(norm -> prefix + norm.site().name()).toList());
    assertThat(found.norms().stream().map(InspectedNorm::gain).toList())
        .isEqualTo(plain.norms().stream().map(InspectedNorm::gain).toList());
    assertThat(found.model().unknown()).isEmpty();
    assertThat(found.model().writers()).hasSameSizeAs(plain.model().writers());
    assertThat(found.remarks()).singleElement().asString().contains("begin with " + prefix + ",");
    assertThat(plain.remarks()).isEmpty();
  }

  /** A text model within another: its head stays where it was. */
  @Test
  void aPrefixBehindThatOfTheFamily() throws IOException {
    Inspection found =
        inspect(renamed(LLAMA, name -> name.replaceFirst("^model", "model.language_model")));
    assertThat(found.model().unknown()).isEmpty();
    assertThat(found.model().head().orElseThrow().weight()).isEqualTo("lm_head.weight");
    assertThat(found.norms().getLast().site().name()).isEqualTo("model.language_model.norm");
  }

  @Test
  void ofTwoPrefixesNoneIsTaken() throws IOException {
    TinyModel model = renamed(LLAMA, name -> "a." + name);
    Values embedding = model.get("a.model.embed_tokens.weight");
    Path in =
        HuggingFaceFolder.write(
            model
                .with("b.model.embed_tokens.weight", embedding)
                .with("b.embed_tokens.weight", embedding),
            folder,
            1);
    refused(in, "lacks model.embed_tokens.weight");
  }

  /** A gain of each head: rows of all heads, in groups. */
  @ParameterizedTest
  @ValueSource(strings = {"rmsnorm", "layernorm", "llama"})
  void gainsOfSeveralHeads(String norm) throws IOException {
    TinyModel model = Layouts.ALL.get("qwen3").model(StoredType.F32, 5);
    String name = "model.layers.1.self_attn.q_norm.weight";
    double[] gains = new double[4 * 8];
    for (int i = 0; i < gains.length; i++) {
      gains[i] = 1 + i / 64.0;
    }
    Values heads = new Values(StoredType.F32, List.of(4, 8), gains);
    Path in = HuggingFaceFolder.write(model.with(name, heads), folder, 1);
    Path map = folder.resolve("map.json");
    Files.writeString(map, "{\"family\":\"A\",\"like\":\"Qwen3\",\"norm\":\"%s\"}".formatted(norm));
    InspectedNorm found =
        inspect(in, Optional.of(map)).norms().stream()
            .filter(each -> each.site().gain().orElseThrow().equals(name))
            .findFirst()
            .orElseThrow();
    assertThat(found.site().spec()).isEqualTo(NormSpec.parse(norm + "(eps=1e-3, groupsize=8)"));
    assertThat(found.site().width()).isEqualTo(32);
    assertThat(found.site().heads()).isFalse();
    assertThat(found.gain().orElseThrow().greatest()).isEqualTo(1 + 31 / 64.0);
    Values three = new Values(StoredType.F32, List.of(3, 8), Arrays.copyOf(gains, 24));
    refused(
        HuggingFaceFolder.write(model.with(name, three), folder.resolve("three"), 1),
        "tensor '" + name + "' is f32 [3, 8], rows for 3 heads, the model has 4");
    // The text makes the norm.
    assertThat(found.site().spec().builder(32).gain(new float[32]).build().width()).isEqualTo(32);
    refused(
        HuggingFaceFolder.write(
            LLAMA.with("model.layers.1.input_layernorm.weight", heads), folder.resolve("no"), 1),
        "a gain has one axis");
  }

  @ParameterizedTest
  @CsvSource({
    "pytorch_model.safetensors, name the file to read",
    "model.fp16.safetensors, name the file to read",
    "diffusion_pytorch_model.safetensors, name the file to read",
    "model-00001-of-00002.safetensors, whose index is missing",
    "pytorch_model.bin, converted to .safetensors"
  })
  void weightsOfAnotherName(String name, String advice) throws IOException {
    Inspection expected = inspect(LLAMA);
    Path model = folder.resolve("model");
    Files.move(model.resolve("model.safetensors"), model.resolve(name));
    refused(
        model, "neither model.safetensors nor model.safetensors.index.json, but " + name, advice);
    if (name.contains("-of-")) {
      refused(model.resolve(name), "is part 1 of 2 of a model: name its folder, or the index");
    } else if (name.endsWith(".safetensors")) {
      assertThat(inspect(model.resolve(name), Optional.empty())).isEqualTo(expected);
    }
  }

  @Test
  void noWeights() throws IOException {
    HuggingFaceFolder.write(LLAMA, folder, 1);
    Files.delete(folder.resolve("model.safetensors"));
    refused(folder, "has no weights; rmsnorm inspect reads " + folder.resolve("config.json"));
    Files.delete(folder.resolve("config.json"));
    refused(folder, "is a folder with neither model.safetensors nor");
  }

  @Test
  void shardsOfAnotherName() throws IOException {
    HuggingFaceFolder.write(LLAMA, folder, 2);
    Path index = folder.resolve("model.fp16.safetensors.index.json");
    Files.move(folder.resolve("model.safetensors.index.json"), index);
    refused(folder, "but model-00001-of-00002.safetensors", "name the index");
    assertThat(inspect(index, Optional.empty()).norms()).isEqualTo(inspect(LLAMA).norms());
  }

  /** A difference of one element is one. */
  @Test
  void aTiedModelWithAnotherHead() throws IOException {
    Values copy = TIED.get("model.embed_tokens.weight");
    assertThat(inspect(TIED.with("lm_head.weight", copy)).remarks()).isEmpty();
    double[] other = copy.elements().clone();
    other[other.length - 1]++;
    assertThat(inspect(TIED.with("lm_head.weight", copy.with(other))).remarks())
        .singleElement()
        .asString()
        .contains("tied to model.embed_tokens.weight, but another lm_head.weight is stored");
    assertThat(
            inspect(
                    TIED.with("lm_head.weight", copy.with(other))
                        .with("tie_word_embeddings", false))
                .remarks())
        .isEmpty();
  }

  @Test
  void shardsBesideTheWholeModel() throws IOException {
    HuggingFaceFolder.write(LLAMA, folder.resolve("model"), 2);
    assertThat(inspect(folder.resolve("model"), Optional.empty()).remarks()).isEmpty();
    assertThat(inspect(TIED).remarks())
        .singleElement()
        .asString()
        .contains("model.safetensors is read, and not what is beside it: model-00001-of-00002");
  }

  @Test
  void aGgufFileWithoutAnEpsilon() throws IOException {
    GgufBytes gguf =
        new GgufBytes()
            .text("general.architecture", "llama")
            .uint32("llama.block_count", 0)
            .uint32("llama.embedding_length", 4)
            .tensor("token_embd.weight", GgufBytes.F32, new byte[32], 2, 4)
            .tensor("output_norm.weight", GgufBytes.F32, GgufBytes.floats(1, 2, 3, 4), 4);
    Path file = Files.write(folder.resolve("model.gguf"), gguf.toBytes());
    assertThat(inspect(file, Optional.empty()).remarks())
        .singleElement()
        .asString()
        .contains("no epsilon (llama.attention.layer_norm_rms_epsilon)");
    gguf.float32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    Files.write(file, gguf.toBytes());
    assertThat(inspect(file, Optional.empty()).remarks()).isEmpty();
  }
}
