package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.testing.GgufBytes;
import io.github.rmsnorm4j.models.FamilyGuess;
import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What is told of a model without weights, and of one without rules. */
class UnknownFamilyTest {
  @TempDir private Path folder;

  static Stream<String> layouts() {
    return Layouts.ALL.keySet().stream();
  }

  private static Inspection inspect(Path model, Optional<Path> map) throws IOException {
    try (StoredModel stored = StoredModel.open(model)) {
      return Inspection.of(stored, map);
    }
  }

  /** The settings tell as much of the norms as the settings and the weights together. */
  @ParameterizedTest
  @MethodSource("layouts")
  void theSettingsTellTheNorms(String name) throws IOException {
    Path model = HuggingFaceFolder.write(Layouts.ALL.get(name).model(StoredType.F32, 1), folder, 1);
    Inspection alone = Inspection.ofConfig(model.resolve("config.json"), Optional.empty());
    Map<String, NormSpec> specs = new LinkedHashMap<>();
    for (InspectedNorm norm : alone.norms()) {
      specs.put(withoutPrefix(norm.site().name()), norm.site().spec());
      assertThat(norm.gain()).isEmpty();
    }
    Inspection whole = inspect(model, Optional.empty());
    assertThat(whole.norms()).isNotEmpty();
    for (InspectedNorm norm : whole.norms()) {
      String general = norm.site().general(norm.site().name());
      assertThat(specs).containsEntry(withoutPrefix(general), norm.site().spec());
    }
    assertThat(alone.norms().stream().map(InspectedNorm::epsilonFrom).distinct())
        .containsAll(whole.norms().stream().map(InspectedNorm::epsilonFrom).distinct().toList());
    assertThat(alone.model().tied()).isEqualTo(whole.model().tied());
  }

  /** Which prefix a model has is not in its settings. */
  private static String withoutPrefix(String name) {
    return name.replaceFirst(".*N\\.|.*\\.", "");
  }

  /** A model whose type is not known and whose gains are usual. */
  private Path unknown(String layout, double mean) throws IOException {
    TinyModel model = Layouts.ALL.get(layout).model(StoredType.F32, 2).with("model_type", "new");
    for (String name : model.tensors().keySet()) {
      Values values = model.get(name);
      if (values.shape().size() == 1 && name.endsWith(".weight")) {
        double[] gain = new double[values.elements().length];
        Arrays.setAll(gain, i -> mean + 0.02 * (i % 5 - 2));
        model = model.with(name, values.with(gain));
      }
    }
    return HuggingFaceFolder.write(model, folder.resolve("model"), 1);
  }

  /** The norms that are found by the guessed map. */
  private Inspection guessed(Path model) throws IOException {
    try (StoredModel stored = StoredModel.open(model)) {
      FamilyGuess guess = new FamilyGuess(stored);
      assertThat(guess.isKnown()).isFalse();
      String map = FamilyGuess.line(guess.map().orElseThrow());
      assertThat(map).hasLineCount(1);
      return inspect(model, Optional.of(Files.writeString(folder.resolve("map.json"), map)));
    }
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void aMapIsGuessedThatFindsEveryNorm(String layout) throws IOException {
    boolean gemma = layout.startsWith("gemma");
    Path model = unknown(layout, gemma ? 0 : 1);
    Inspection found = guessed(model);
    assertThat(found.norms()).hasSameSizeAs(inspectAsItIs(layout).norms());
    boolean layerNorm = layout.matches("gpt.*|opt.*");
    assertThat(found.norms())
        .allMatch(norm -> !norm.isDoubtful())
        .allMatch(norm -> norm.site().spec().gainOffset() == (gemma ? 1 : 0))
        .allMatch(norm -> (norm.site().spec().kind() == NormSpec.Kind.LAYER_NORM) == layerNorm);
  }

  private Inspection inspectAsItIs(String layout) throws IOException {
    TinyModel model = Layouts.ALL.get(layout).model(StoredType.F32, 2);
    return inspect(HuggingFaceFolder.write(model, folder.resolve("known"), 1), Optional.empty());
  }

  /** One line; the setting of epsilon may have another name. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rms_norm_eps | 1 | {\"family\":\"new\",\"like\":\"Llama\"}",
        "layernorm_epsilon | 1 |"
            + " {\"family\":\"new\",\"like\":\"Llama\",\"epsilon\":[\"layernorm_epsilon\"]}",
        "rms_norm_eps | 0 | {\"family\":\"new\",\"like\":\"Llama\",\"norm\":\"gemma\"}"
      })
  void namesOfAKnownFamilyNeedOneLine(String key, double mean, String map) throws IOException {
    Path model = unknown("llama", mean);
    Path config = model.resolve("config.json");
    Files.writeString(config, Files.readString(config).replace("rms_norm_eps", key));
    try (StoredModel stored = StoredModel.open(model)) {
      assertThat(new FamilyGuess(stored).map().map(FamilyGuess::line)).contains(map);
    }
    assertThat(guessed(model).norms())
        .allMatch(norm -> norm.epsilonFrom().equals(Optional.of(key)));
  }

  /** Names of no family, in settings of other names, with a norm that only one layer has. */
  @Test
  void namesOfNoFamily() throws IOException {
    TinyModel llama = Layouts.ALL.get("llama").model(StoredType.F32, 2);
    Map<String, Values> tensors = new LinkedHashMap<>();
    llama
        .tensors()
        .forEach(
            (name, values) ->
                tensors.put(
                    name.replace("model.layers", "net.blocks")
                        .replace("model.embed_tokens", "net.wte")
                        .replace("model.norm", "net.last"),
                    values));
    tensors.put("net.blocks.1.extra_norm.weight", tensors.get("net.last.weight"));
    Map<String, Object> config =
        Map.of("model_type", "new", "n_layers", 3, "width", 3, "eps", 1e-4, "n_embd", 24);
    Path model = HuggingFaceFolder.write(new TinyModel(config, tensors), folder, 1);
    Inspection found = guessed(model);
    assertThat(found.norms()).hasSize(8);
    assertThat(found.norms()).allMatch(norm -> norm.site().spec().epsilon().orElseThrow() == 1e-4);
  }

  @Test
  void aGgufFileOfAnotherArchitecture() throws IOException {
    GgufBytes gguf =
        new GgufBytes()
            .text("general.architecture", "new")
            .uint32("new.block_count", 0)
            .float32("new.attention.layer_norm_rms_epsilon", 1e-4f)
            .tensor("token_embd.weight", GgufBytes.F32, new byte[32], 2, 4)
            .tensor("output_norm.weight", GgufBytes.F32, GgufBytes.floats(1, 2, 3, 4), 4);
    Inspection found = guessed(Files.write(folder.resolve("model.gguf"), gguf.toBytes()));
    assertThat(found.norms()).singleElement().matches(norm -> norm.epsilonFrom().isPresent());
  }
}
