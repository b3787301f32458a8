package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.transformer.GreedyText.End;
import io.github.rmsnorm4j.models.transformer.GreedyText.Written;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The bundled model writes what llama2.c writes, from the logits of its formulas in float64. */
class Stories260KTest {
  private static final int TOKENS = 64;
  private static final int VOCABULARY = 512;
  private static final int NPY_HEADER = 128;

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = Stories260KTest.class.getResourceAsStream("stories260K/" + name)) {
      return in.readAllBytes();
    }
  }

  /** Its header is as NumPy writes it, 128 bytes. */
  private static int[] expectedTokens() throws IOException {
    ByteBuffer file = ByteBuffer.wrap(resource("tokens.npy")).order(ByteOrder.LITTLE_ENDIAN);
    int[] tokens = new int[TOKENS];
    file.position(NPY_HEADER).asIntBuffer().get(tokens);
    assertThat(file.capacity()).isEqualTo(NPY_HEADER + TOKENS * Integer.BYTES);
    return tokens;
  }

  private static double[] expectedLogits() throws IOException {
    try (Arena arena = Arena.ofConfined();
        TensorFile file = TensorFile.of(Path.of("logits.npy"), resource("logits.npy"))) {
      Tensor tensor = file.tensors().getFirst();
      assertThat(tensor.shape()).containsExactly((long) TOKENS, (long) VOCABULARY);
      MemorySegment all = arena.allocate(tensor.bytes(), Double.BYTES);
      file.read(tensor, 0, tensor.elements(), all);
      return all.toArray(ValueLayout.JAVA_DOUBLE);
    }
  }

  @Test
  void greedyTokensAreLlama2csToTheLast() throws IOException {
    int[] expected = expectedTokens();
    try (Weights weights = Stories260K.weights();
        Model model = Model.continuing(weights, 512, Arithmetic.PLAIN)) {
      List<Integer> heard = new ArrayList<>();
      Written written =
          GreedyText.write(model, new int[] {Tokenizer.BEGIN}, TOKENS - 1, heard::add);
      assertThat(written.end()).isEqualTo(End.ENOUGH);
      assertThat(heard)
          .isEqualTo(written.tokens())
          .isEqualTo(Arrays.stream(expected).skip(1).boxed().toList());
    }
    assertThat(TokenText.of(Stories260K.tokenizer(), expected))
        .startsWith(
            "Once upon a time, there was a little girl named Lily. She loved to play outside in the"
                + " park. One day, ");
  }

  @Test
  void logitsOfOnePassAreThoseOfTheFormula() throws IOException {
    double[] expected = expectedLogits();
    try (Weights weights = Stories260K.weights();
        Model model = new Model(weights, 1, TOKENS, 1, Arithmetic.PLAIN)) {
      model.forward(expectedTokens());
      float[] logits = model.logits().toArray(ValueLayout.JAVA_FLOAT);
      assertThat(logits).hasSameSizeAs(expected);
      assertThat(largestDifference(logits, expected, 0)).isLessThan(1e-4);
    }
  }

  @Test
  void logitsOneByOneAreThoseOfTheFormula() throws IOException {
    double[] expected = expectedLogits();
    int[] tokens = expectedTokens();
    try (Weights weights = Stories260K.weights();
        Model model = Model.continuing(weights, TOKENS, Arithmetic.PLAIN)) {
      for (int t = 0; t < TOKENS; t++) {
        model.forward(new int[] {tokens[t]});
        float[] logits = model.logits().toArray(ValueLayout.JAVA_FLOAT);
        assertThat(logits).hasSize(VOCABULARY);
        assertThat(largestDifference(logits, expected, t * VOCABULARY)).isLessThan(1e-4);
      }
    }
  }

  /** NaN where a logit is. */
  private static double largestDifference(float[] logits, double[] expected, int first) {
    double largest = 0;
    for (int i = 0; i < logits.length; i++) {
      largest = Math.max(largest, Math.abs(logits[i] - expected[first + i]));
    }
    return largest;
  }

  @Test
  void aTextEndsForEveryReason() throws IOException {
    int[] begin = {Tokenizer.BEGIN};
    try (Weights weights = Stories260K.weights();
        Model model = Model.continuing(weights, 512, Arithmetic.PLAIN);
        Model shorter = Model.continuing(weights, 5, Arithmetic.PLAIN)) {
      Written story = GreedyText.write(model, begin, 512, token -> {});
      assertThat(story.end()).isEqualTo(End.COMPLETE);
      assertThat(story.tokens()).hasSizeBetween(TOKENS, 510).doesNotContain(Tokenizer.BEGIN);
      // Five positions: the fifth token sees four that were written, and is the fifth itself.
      Written cut = GreedyText.write(shorter, begin, 512, token -> {});
      assertThat(cut).isEqualTo(new Written(story.tokens().subList(0, 5), End.NO_POSITIONS));
      assertThatThrownBy(() -> GreedyText.write(shorter, new int[6], 1, token -> {}))
          .hasMessage("all 5 positions are taken");
      weights
          .values(weights.parameter("model.norm.weight"))
          .setAtIndex(ValueLayout.JAVA_FLOAT, 7, Float.POSITIVE_INFINITY);
      assertThat(GreedyText.write(model, begin, 512, token -> {}))
          .isEqualTo(new Written(List.of(), End.NOT_FINITE));
    }
  }

  @Test
  void otherNormsOnTheSameMatrices() throws IOException {
    try (Weights trained = Stories260K.weights()) {
      ModelConfig config = trained.config();
      try (Weights layer = trained.copyFor(config.withNorm(NormSpec.parse("layernorm(eps=1e-3)")));
          Weights none = trained.copyFor(config.withNorm(null))) {
        for (Parameter parameter : layer.parameters()) {
          if (!parameter.isMatrix() && !parameter.isGain()) {
            assertThat(layer.values(parameter).toArray(ValueLayout.JAVA_FLOAT)).containsOnly(0);
          } else {
            MemorySegment same = trained.values(trained.parameter(parameter.name()));
            assertThat(layer.values(parameter).mismatch(same)).isEqualTo(-1);
          }
        }
        assertThat(none.config().parameterCount()).isEqualTo(config.parameterCount() - 11 * 64);
        try (Weights normed = none.copyFor(config)) {
          assertThat(gains(normed)).containsOnly(1);
        }
        layer.setGainsToOne();
        assertThat(gains(layer)).containsOnly(1);
        assertThat(gains(trained)).doesNotContain(1);
        ModelConfig wider = ModelConfig.of(512, 128, 5, 8, o -> {});
        assertThatThrownBy(() -> trained.copyFor(wider))
            .hasMessage(
                "model.embed_tokens.weight has the shape [512, 64], the other config's is [512,"
                    + " 128]");
      }
    }
  }

  private static float[] gains(Weights weights) {
    return weights
        .values(weights.parameter("model.layers.3.input_layernorm.weight"))
        .toArray(ValueLayout.JAVA_FLOAT);
  }
}
