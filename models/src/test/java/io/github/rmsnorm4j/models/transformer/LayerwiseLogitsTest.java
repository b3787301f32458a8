package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A stored model, block by block, has the bits of the whole model. */
class LayerwiseLogitsTest {
  private static final long SEED = 11;
  private static final int[] TOKENS = {3, 1, 4, 1, 5, 9, 2, 6};

  @TempDir Path folder;

  static List<ModelConfig> configs() {
    return Configs.all();
  }

  @ParameterizedTest
  @MethodSource("configs")
  void theLogitsAreThoseOfTheModel(ModelConfig config) throws IOException {
    try (Weights weights = Configs.weights(config, SEED)) {
      ModelFolder.save(folder, weights);
      assertThat(layerwise(MatrixChange.NONE)).isEqualTo(whole(weights));
    }
  }

  @Test
  void theHeadIsComputedInPieces() throws IOException {
    ModelConfig config = ModelConfig.of(2_100_000, 4, 1, 2, o -> o.mlpWidth = 4);
    try (Weights weights = Configs.weights(config, SEED)) {
      ModelFolder.save(folder, weights);
      try (LayerwiseLogits model = LayerwiseLogits.open(folder)) {
        assertThat(model.vocabulary()).isEqualTo(2_100_000);
        assertThat(model.logits(new int[] {2_099_999, 0}, MatrixChange.NONE))
            .isEqualTo(whole(weights, 2_099_999, 0));
      }
    }
  }

  @Test
  void aShardedModelIsReadAsOneFile() throws IOException {
    try (Weights weights = Configs.weights(Configs.tiny(o -> o.tied = false), SEED)) {
      ModelFolder.save(folder, weights);
      float[] expected = layerwise(MatrixChange.NONE);
      shard();
      assertThat(layerwise(MatrixChange.NONE)).isEqualTo(expected);
      try (Weights loaded = ModelFolder.load(folder)) {
        assertThat(loaded.values().mismatch(weights.values())).isEqualTo(-1);
      }
    }
  }

  /** Cuts the model in three files with an index. */
  private void shard() throws IOException {
    Path whole = folder.resolve("model.safetensors");
    StringBuilder index = new StringBuilder();
    try (TensorFile file = TensorFile.open(whole)) {
      int count = file.tensors().size();
      for (int i = 0; i < 3; i++) {
        List<Tensor> tensors = file.tensors().subList(count * i / 3, count * (i + 1) / 3);
        String name = "model-0000%d-of-00003.safetensors".formatted(i + 1);
        try (TensorWriter writer =
            TensorWriter.create(folder.resolve(name), tensors, Map.of(), false)) {
          for (Tensor tensor : writer.order()) {
            byte[] bytes = new byte[(int) tensor.bytes()];
            file.readBytes(tensor, 0, MemorySegment.ofArray(bytes));
            writer.write(MemorySegment.ofArray(bytes));
            index.append(index.isEmpty() ? "" : ", ");
            index.append("\"%s\": \"%s\"".formatted(tensor.name(), name));
          }
          writer.commit();
        }
      }
    }
    Files.delete(whole);
    Files.writeString(
        folder.resolve("model.safetensors.index.json"), "{\"weight_map\": {" + index + "}}");
  }

  @Test
  void aChangeSeesEveryElementAndIsUsed() throws IOException {
    ModelConfig config = Configs.tiny(o -> o.tied = false);
    Map<String, Map<Long, Float>> seen = new HashMap<>();
    try (Weights weights = Configs.weights(config, SEED)) {
      ModelFolder.save(folder, weights);
      float[] logits =
          layerwise(
              (tensor, first, values) -> {
                Map<Long, Float> elements = seen.computeIfAbsent(tensor, t -> new TreeMap<>());
                for (int i = 0; i < values.length; i++) {
                  elements.put(first + i, values[i]);
                  values[i] = changed(tensor, first + i, values[i]);
                }
              });
      assertSeen(weights, seen);
      for (Parameter parameter : weights.parameters()) {
        MemorySegment values = weights.values(parameter);
        for (long i = 0; i < parameter.elements(); i++) {
          float value = values.getAtIndex(ValueLayout.JAVA_FLOAT, i);
          values.setAtIndex(ValueLayout.JAVA_FLOAT, i, changed(parameter.name(), i, value));
        }
      }
      assertThat(logits).isEqualTo(whole(weights));
    }
  }

  /** Of the embedding the rows of the tokens are seen, of all other tensors all elements. */
  private static void assertSeen(Weights weights, Map<String, Map<Long, Float>> seen) {
    for (Parameter parameter : weights.parameters()) {
      Map<Long, Float> elements = seen.get(parameter.name());
      boolean embedding = parameter.name().startsWith("model.embed_tokens");
      assertThat(elements).hasSize(embedding ? 7 * 12 : (int) parameter.elements());
      elements.forEach(
          (i, value) ->
              assertThat(weights.values(parameter).getAtIndex(ValueLayout.JAVA_FLOAT, i))
                  .isEqualTo(value));
    }
  }

  private static float changed(String tensor, long i, float value) {
    return value * (1 + Math.floorMod(tensor.hashCode() + i * 31, 13) * 0x1p-10f);
  }

  @Test
  void aTiedHeadIsChangedAsItsEmbedding() throws IOException {
    try (Weights weights = Configs.weights(Configs.tiny(), SEED)) {
      ModelFolder.save(folder, weights);
      MatrixChange change =
          (tensor, first, values) -> {
            for (int i = 0; i < values.length; i++) {
              values[i] = changed(tensor, first + i, values[i]);
            }
          };
      float[] logits = layerwise(change);
      for (Parameter parameter : weights.parameters()) {
        MemorySegment values = weights.values(parameter);
        float[] changed = values.toArray(ValueLayout.JAVA_FLOAT);
        change.change(parameter.name(), 0, changed);
        values.copyFrom(MemorySegment.ofArray(changed));
      }
      assertThat(logits).isEqualTo(whole(weights));
    }
  }

  @Test
  void itSaysWhyAModelIsNotSupported() throws IOException {
    try (Weights weights = Configs.weights(Configs.tiny(), SEED)) {
      ModelFolder.save(folder, weights);
    }
    assertThat(LayerwiseLogits.unsupported(folder)).isEmpty();
    Path config = folder.resolve("config.json");
    String text = Files.readString(config);
    Files.writeString(config, text.replace("\"llama\"", "\"gemma2\""));
    assertThat(LayerwiseLogits.unsupported(folder))
        .hasValueSatisfying(
            why ->
                assertThat(why)
                    .contains("config.json: model_type is gemma2, it must be one of llama, ")
                    .doesNotContain("\n"));
    Files.writeString(config, text.replaceAll("\"num_hidden_layers\" : 2", "$0e1"));
    assertThat(LayerwiseLogits.unsupported(folder))
        .hasValueSatisfying(why -> assertThat(why).contains("has no tensor 'model.layers.2."));
    Files.delete(config);
    assertThatThrownBy(() -> LayerwiseLogits.unsupported(folder))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("config.json");
  }

  @Test
  void wrongTokensAreNamed() throws IOException {
    try (Weights weights = Configs.weights(Configs.tiny(o -> o.maxPositions = 4), SEED)) {
      ModelFolder.save(folder, weights);
    }
    try (LayerwiseLogits model = LayerwiseLogits.open(folder)) {
      assertThat(model.positions()).isEqualTo(4);
      assertThatThrownBy(() -> model.logits(new int[0], MatrixChange.NONE))
          .hasMessage("tokens has 0 elements, it must have between 1 and 4");
      assertThatThrownBy(() -> model.logits(new int[5], MatrixChange.NONE))
          .hasMessage("tokens has 5 elements, it must have between 1 and 4");
      assertThatThrownBy(() -> model.logits(new int[] {0, 11}, MatrixChange.NONE))
          .hasMessage("tokens[1] is 11, it must be between 0 and 10");
    }
  }

  private float[] layerwise(MatrixChange change) throws IOException {
    try (LayerwiseLogits model = LayerwiseLogits.open(folder)) {
      return model.logits(TOKENS, change);
    }
  }

  private static float[] whole(Weights weights) {
    return whole(weights, TOKENS);
  }

  static float[] whole(Weights weights, int... tokens) {
    try (Model model = new Model(weights, 1, tokens.length, 1, Arithmetic.PLAIN)) {
      model.forward(tokens);
      return model.logits().toArray(ValueLayout.JAVA_FLOAT);
    }
  }
}
