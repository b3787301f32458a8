package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.NormSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What holds for a model whatever its numbers are. */
class ModelTest {
  private static final int T = Configs.SEQUENCE;

  @Test
  void parameterCounts() {
    // V d + L (d H h + 2 d K h + H h d + 3 d F + norms) + final norm + V d if not tied.
    long matrices = 11 * 12 + 2 * (12 * 16 + 2 * 12 * 8 + 16 * 12 + 3 * 12 * 10);
    ModelConfig config = Configs.tiny(o -> o.keyValueHeads = 2);
    assertThat(config.withNorm(null).parameterCount()).isEqualTo(matrices);
    assertThat(config.parameterCount()).isEqualTo(matrices + 5 * 12);
    assertThat(config.withNorm(NormSpec.parse("rmsnorm(part=1/16)")).parameterCount())
        .isEqualTo(matrices + 5 * 12);
    assertThat(config.withNorm(NormSpec.LAYERNORM).parameterCount()).isEqualTo(matrices + 5 * 24);
    assertThat(layerNorm(Placement.POST).parameterCount()).isEqualTo(matrices + 4 * 24);
    assertThat(layerNorm(Placement.SANDWICH).parameterCount()).isEqualTo(matrices + 9 * 24);
    ModelConfig untied =
        Configs.tiny(
            o -> {
              o.keyValueHeads = 2;
              o.queryKeyNorm = true;
              o.tied = false;
            });
    assertThat(untied.parameterCount()).isEqualTo(matrices + 5 * 12 + 2 * 2 * 4 + 11 * 12);
  }

  private static ModelConfig layerNorm(Placement placement) {
    return Configs.tiny(
        o -> {
          o.keyValueHeads = 2;
          o.norm = NormSpec.LAYERNORM;
          o.placement = placement;
        });
  }

  /** SmolLM2-135M, as its card has it. */
  @Test
  void aPublishedModelsParameterCount() {
    ModelConfig config =
        ModelConfig.of(
            49_152,
            576,
            30,
            9,
            o -> {
              o.keyValueHeads = 3;
              o.mlpWidth = 1536;
            });
    assertThat(config.parameterCount()).isEqualTo(134_515_008);
  }

  @Test
  void theSameMatricesWhateverTheNorm() {
    try (Weights layerNorm = new Weights(Configs.tiny(o -> o.norm = NormSpec.LAYERNORM));
        Weights none = new Weights(Configs.tiny(o -> o.norm = null))) {
      layerNorm.initialise(5);
      none.initialise(5);
      for (Parameter parameter : none.parameters()) {
        MemorySegment same = layerNorm.values(layerNorm.parameter(parameter.name()));
        assertThat(none.values(parameter).mismatch(same)).as(parameter.name()).isEqualTo(-1);
      }
      float[] gain =
          layerNorm
              .values(layerNorm.parameter("model.norm.weight"))
              .toArray(ValueLayout.JAVA_FLOAT);
      assertThat(gain).containsOnly(1);
      assertThat(none.parameters().stream().map(p -> none.values(p).asByteBuffer()).distinct())
          .hasSameSizeAs(none.parameters());
    }
  }

  @Test
  void matricesBeginWithTheConfigsDeviation() {
    ModelConfig config = ModelConfig.of(100, 100, 1, 2, o -> o.initialRange = 0.05);
    try (Weights weights = new Weights(config).initialise(1)) {
      float[] values =
          weights
              .values(weights.parameter("model.embed_tokens.weight"))
              .toArray(ValueLayout.JAVA_FLOAT);
      double mean = 0;
      double square = 0;
      for (float value : values) {
        mean += value / values.length;
        square += (double) value * value / values.length;
      }
      assertThat(mean).isBetween(-0.002, 0.002);
      assertThat(Math.sqrt(square)).isBetween(0.049, 0.051);
    }
  }

  /** What comes later changes nothing, and neither do other sequences. */
  @Test
  void aTokenSeesItselfAndWhatIsBeforeIt() {
    ModelConfig config = Configs.tiny(o -> o.queryKeyNorm = true);
    try (Weights weights = Configs.weights(config, 3);
        Model model = new Model(weights, 2, T, 1, Configs.ARITHMETIC)) {
      int[] tokens = Configs.tokens(config, 2 * T, 4);
      float[] before = logits(model, tokens);
      int changed = T + 2;
      tokens[changed] = (tokens[changed] + 1) % config.vocabulary();
      float[] after = logits(model, tokens);
      for (int n = 0; n < 2 * T; n++) {
        int from = n * config.vocabulary();
        boolean same =
            Arrays.equals(
                before, from, from + config.vocabulary(), after, from, from + config.vocabulary());
        assertThat(same).as("token %d", n).isEqualTo(n < changed);
      }
    }
  }

  private static float[] logits(Model model, int[] tokens) {
    model.forward(tokens);
    return model.logits().toArray(ValueLayout.JAVA_FLOAT);
  }

  @Test
  void gradientsAreAddedTo() {
    ModelConfig config =
        Configs.tiny(
            o -> {
              o.norm = NormSpec.LAYERNORM;
              o.queryKeyNorm = true;
            });
    try (Weights weights = Configs.weights(config, 3);
        Model model = new Model(weights, 2, T, 1, Configs.ARITHMETIC)) {
      int[] tokens = Configs.tokens(config, 2 * T, 4);
      int[] targets = Configs.targets(config, 2 * T, 4);
      List<float[]> once = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        model.forward(tokens);
        model.loss(targets);
        model.backward();
        if (i == 0) {
          for (Parameter parameter : weights.parameters()) {
            once.add(weights.gradient(parameter).toArray(ValueLayout.JAVA_FLOAT));
          }
        }
      }
      for (int p = 0; p < once.size(); p++) {
        float[] twice =
            weights.gradient(weights.parameters().get(p)).toArray(ValueLayout.JAVA_FLOAT);
        float largest = 0;
        for (float value : twice) {
          largest = Math.max(largest, Math.abs(value));
        }
        for (int i = 0; i < twice.length; i++) {
          assertThat(twice[i])
              .as("%s[%d]", weights.parameters().get(p).name(), i)
              .isBetween(
                  2 * once.get(p)[i] - 1e-5f * largest, 2 * once.get(p)[i] + 1e-5f * largest);
        }
      }
    }
  }

  @Test
  void anObserverSeesEveryDepthOnce() {
    ModelConfig config = Configs.tiny();
    List<String> seen = new ArrayList<>();
    DepthObserver observer =
        new DepthObserver() {
          @Override
          public void forward(int depth, MemorySegment activations) {
            assertThat(activations.byteSize()).isEqualTo(2L * T * 12 * Float.BYTES);
            seen.add("forward " + depth);
          }

          @Override
          public void backward(int depth, MemorySegment gradients) {
            assertThat(gradients.byteSize()).isEqualTo(2L * T * 12 * Float.BYTES);
            seen.add("backward " + depth);
          }
        };
    try (Weights weights = Configs.weights(config, 3);
        Model model = new Model(weights, 2, T, 1, Configs.ARITHMETIC)) {
      model.observe(observer);
      model.forward(Configs.tokens(config, 2 * T, 4));
      model.loss(Configs.targets(config, 2 * T, 4));
      model.backward();
    }
    assertThat(seen)
        .containsExactly(
            "forward 0", "forward 1", "forward 2", "backward 2", "backward 1", "backward 0");
  }

  @Test
  void wrongArguments() {
    ModelConfig config = Configs.tiny(o -> o.maxPositions = 8);
    try (Weights weights = new Weights(config);
        Model model = new Model(weights, 2, T, 1, Configs.ARITHMETIC)) {
      assertThatThrownBy(() -> new Model(weights, 2, 9, 1, Configs.ARITHMETIC))
          .hasMessage("sequence is 9, it must be between 1 and 8");
      assertThatThrownBy(() -> new Model(weights, 0, T, 1, Configs.ARITHMETIC))
          .hasMessageStartingWith("batch is 0");
      assertThatThrownBy(() -> model.forward(new int[9]))
          .hasMessage("tokens has 9 elements, a batch of 2 x 5 has 10");
      int[] tokens = new int[10];
      tokens[3] = 11;
      assertThatThrownBy(() -> model.forward(tokens))
          .hasMessage("tokens[3] is 11, it must be between 0 and 10");
      assertThatThrownBy(() -> model.loss(new int[10]))
          .hasMessage("there has been no forward pass");
      assertThatThrownBy(model::backward).hasMessage("there has been no loss to go back from");
      assertThatThrownBy(model::logits).hasMessage("there has been no forward pass");
      assertThatThrownBy(() -> weights.parameter("lm_head.weight"))
          .hasMessage("the model has no tensor 'lm_head.weight'");
    }
  }

  @Test
  void configsThatAreNoModel() {
    assertThatThrownBy(() -> ModelConfig.of(9, 10, 1, 3, o -> {}))
        .hasMessage("heads is 3, it must divide the width, 10, or headWidth be set");
    assertThatThrownBy(() -> ModelConfig.of(9, 9, 1, 3, o -> {}))
        .hasMessage("headWidth is 3, it must be even");
    assertThatThrownBy(() -> Configs.tiny(o -> o.keyValueHeads = 3))
        .hasMessage("keyValueHeads is 3, it must divide heads, 4");
    NormSpec none = NormSpec.parse("rmsnorm(part=1/13 down)");
    assertThatThrownBy(() -> Configs.tiny(o -> o.norm = none))
        .hasMessage("part is 1/13 down, it must leave at least one of the 12 elements of a row");
    assertThatThrownBy(() -> Configs.tiny(o -> o.placement = null))
        .hasMessage("placement and form must not be null");
    assertThatThrownBy(
            () ->
                Configs.tiny(
                    o -> {
                      o.placement = Placement.POST;
                      o.form = form(0.5, true);
                    }))
        .hasMessage("placement is POST, it must be PRE in parallel blocks");
    assertThatThrownBy(() -> Configs.tiny(o -> o.form = form(0.3, false)))
        .hasMessage("headWidth is 4, it must have an even part of 0.3");
    assertThatThrownBy(() -> form(1.5, false))
        .hasMessage("rotaryShare is 1.5, it must be between 0 and 1");
    assertThatThrownBy(() -> new BlockForm(null, BlockForm.Biases.ALL, 1, false, false))
        .hasMessage("mlp and biases must not be null");
  }

  private static BlockForm form(double rotaryShare, boolean parallel) {
    return new BlockForm(MlpKind.GELU, BlockForm.Biases.ALL, rotaryShare, parallel, false);
  }
}
