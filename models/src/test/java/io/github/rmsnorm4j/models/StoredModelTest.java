package io.github.rmsnorm4j.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.transformer.ModelFolder;
import io.github.rmsnorm4j.models.transformer.Stories260K;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The norms of the trained model that comes with the project. */
class StoredModelTest {
  @TempDir Path folder;

  @BeforeEach
  void saveTheModel() throws IOException {
    try (Weights weights = Stories260K.weights()) {
      ModelFolder.save(folder, weights);
    }
  }

  private ModelNorms norms(Optional<Path> map) throws IOException {
    try (StoredModel model = StoredModel.open(folder)) {
      return model.norms(map);
    }
  }

  @Test
  void findsEveryNormOfALlamaWithItsConsumers() throws IOException {
    ModelNorms norms = norms(Optional.empty());
    assertThat(norms.family()).isEqualTo("Llama");
    assertThat(norms.norms()).hasSize(11);
    assertThat(norms.norms().getFirst())
        .isEqualTo(
            new NormSite(
                "model.layers.0.input_layernorm",
                0,
                NormSpec.parse("llama(eps=1e-5)"),
                64,
                false,
                false,
                Optional.of("model.layers.0.input_layernorm.weight"),
                Optional.empty(),
                List.of(
                    projection("model.layers.0.self_attn.q_proj"),
                    projection("model.layers.0.self_attn.k_proj"),
                    projection("model.layers.0.self_attn.v_proj")),
                Optional.empty(),
                Optional.empty(),
                List.of("model.layers.")));
    assertThat(norms.norms().get(9).name()).isEqualTo("model.layers.4.post_attention_layernorm");
    assertThat(norms.norms().getLast().layer()).isEqualTo(-1);
    assertThat(norms.norms().getLast().consumers())
        .containsExactly(projection("model.embed_tokens"));
    assertThat(norms.tied()).isTrue();
    assertThat(norms.embeddings()).containsExactly("model.embed_tokens.weight");
    assertThat(norms.writers()).hasSize(10);
    assertThat(norms.unknown()).isEmpty();
    assertThat(norms.notConverted()).contains("it has RMSNorm already");
  }

  private static Projection projection(String name) {
    return new Projection(name + ".weight", false, Optional.empty());
  }

  @Test
  void takesTheRulesOfAMap() throws IOException {
    Path map = folder.resolve("map.json");
    Files.writeString(
        map,
        """
        {"family": "Mine", "like": "Llama", "norm": "gemma(eps=1e-4, residual=last)",
         "norms": [{"name": "model.norm", "kept": "residual"},
                   {"name": "model.layers.{layer}.input_layernorm", "norm": "llama", "epsilon": [],
                    "consumers": ["model.layers.{layer}.self_attn.v_proj"]}]}
        """);
    ModelNorms norms = norms(Optional.of(map));
    assertThat(norms.family()).isEqualTo("Mine");
    assertThat(norms.norms()).hasSize(6);
    assertThat(norms.norms().get(0).spec()).hasToString("gemma(eps=1e-5, residual=last)");
    assertThat(norms.norms().get(0).keptBecause().orElseThrow()).contains("residual stream");
    assertThat(norms.norms().get(5).spec()).hasToString("llama");
    assertThat(norms.norms().get(5).consumers())
        .containsExactly(projection("model.layers.4.self_attn.v_proj"));
    assertThat(norms.unknown()).hasSize(5 * 5).contains("model.layers.0.mlp.up_proj.weight");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'embeddings': [] -> embeddings is empty, it must have one entry or more",
        "'counts': {'layer': []} -> layer is empty, it must have one entry or more",
        "'width': [] -> width is empty, it must have one entry or more",
        "'norms': [] -> norms is empty, it must have one entry or more",
        "'norm': 'lama' -> map.json: norms[0].norm: norm is 'lama', it may be rmsnorm, layernorm, llama,",
        "'norm': 'llama(eps=-1)' -> norm is 'llama(eps=-1)', eps may be a finite number of 0 or",
        "'norm': 't5(offset=1)' -> gain offset is 1.0, it must be 0 with cast order T5",
        "'norm': 'rmsnorm(offset=2)' -> norm is 'rmsnorm(offset=2)', its offset must be 0 or 1",
        "'norm': 'rmsnorm(part=1/65 down)' -> model.layers.0.input_layernorm: part is 1/65 down, it"
            + " must leave at least one of the 64 elements of a row",
        "'norm': 7 -> map.json: norms[0].norm is not a text",
        "'epsilon': {'keys': []} -> map.json: norms[0].epsilon is not a list",
        "'gain': 'none' -> map.json: norms[0].gain is not true or false",
        "'cast_order': 'llama' -> map.json: cast_order is not a known field",
        "'others': ['{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"
            + "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}']"
            + " -> they stand for 1.07e+09 names, at most 262144 are tried"
      })
  void refusesAMapThatNothingCanBeReadBy(String caseOf) throws IOException {
    String[] parts = caseOf.split(" -> ");
    Path map = folder.resolve("map.json");
    Files.writeString(
        map,
        "{\"family\": \"Mine\", \"like\": \"Llama\", %s}".formatted(parts[0].replace('\'', '"')));
    assertThatThrownBy(() -> norms(Optional.of(map)))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(parts[1]);
  }

  /** As every other name, that of the head may have a prefix. */
  @Test
  void theHeadOfAMapHasAPrefix() throws IOException {
    Path map = folder.resolve("map.json");
    Files.writeString(
        map,
        """
        {"family": "Mine", "like": "Llama", "head": "{prefix}embed_tokens",
         "tied": "if the head is not stored"}
        """);
    ModelNorms norms = norms(Optional.of(map));
    assertThat(norms.tied()).isFalse();
    assertThat(norms.head()).contains(projection("model.embed_tokens"));
    assertThat(norms.ownHead()).isEqualTo("model.embed_tokens.weight");
  }

  @Test
  void refusesAFamilyThatItDoesNotKnow() throws IOException {
    Path config = folder.resolve("config.json");
    Files.writeString(config, Files.readString(config).replace("\"llama\"", "\"mamba\""));
    assertThatThrownBy(() -> norms(Optional.empty()))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("has model_type 'mamba', whose norms are not known; docs/choose.md")
        .hasMessageContaining("--map FILE");
  }

  @Test
  void refusesAMapWithAFieldThatNothingReads() throws IOException {
    Path map = folder.resolve("map.json");
    Files.writeString(map, "{\"family\": \"Mine\", \"like\": \"Llama\", \"wights\": []}");
    assertThatThrownBy(() -> norms(Optional.of(map)))
        .isInstanceOf(FormatException.class)
        .hasMessageEndingWith("map.json: wights is not a known field");
  }
}
