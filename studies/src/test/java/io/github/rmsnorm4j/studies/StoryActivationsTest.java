package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.transformer.Stories260K;
import io.github.rmsnorm4j.models.transformer.Weights;
import io.github.rmsnorm4j.report.Records;
import io.github.rmsnorm4j.studies.story.Results;
import io.github.rmsnorm4j.studies.story.SampleText;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rmsnorm story --activations}: a trained model's rows for the other commands. */
class StoryActivationsTest {
  private static final int WIDTH = 64;
  private static final int VOCABULARY = 512;

  @TempDir Path folder;

  private static float[] read(TensorFile file, String name) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment all = arena.allocate(file.tensor(name).bytes(), Float.BYTES);
      file.read(file.tensor(name), 0, file.tensor(name).elements(), all);
      return all.toArray(ValueLayout.JAVA_FLOAT);
    }
  }

  /** The loss is computed again from the last rows: by the definition, with no code of a model. */
  @Test
  void theRowsAreTheModels() throws IOException {
    Path path = folder.resolve("acts.safetensors");
    Path json = folder.resolve("story.json");
    CommandResult result =
        CommandResult.of("story", "--tokens", "1", "--activations", "" + path, "--json", "" + json);
    assertThat(result.status()).describedAs(result.err()).isZero();
    assertThat(result.err())
        .containsPattern(
            "rmsnorm story: --activations wrote \\d+ rows of 64 at 6 depths, with the gains of the"
                + " norms\n");
    double loss = Records.read(Results.class, Files.readString(json)).streams().getFirst().loss();
    try (TensorFile file = TensorFile.open(path);
        Weights weights = Stories260K.weights()) {
      float[] embedding =
          weights
              .values(weights.parameter("model.embed_tokens.weight"))
              .toArray(ValueLayout.JAVA_FLOAT);
      float[] first = read(file, "layers.0.hidden");
      float[] last = read(file, "layers.5.hidden");
      RmsNorm norm =
          RmsNorm.builder(WIDTH).epsilon(1e-5).gain(read(file, "layers.5.norm.weight")).build();
      norm.apply(last, last);
      double sum = 0;
      int row = 0;
      for (int[] window : SampleText.windows(Stories260K.tokenizer())) {
        for (int t = 0; t + 1 < window.length; t++, row++) {
          for (int i = 0; i < WIDTH; i++) {
            assertThat(first[row * WIDTH + i]).isEqualTo(embedding[window[t] * WIDTH + i]);
          }
          sum += crossEntropy(last, row, embedding, window[t + 1]);
        }
      }
      assertThat(last).hasSize(row * WIDTH);
      assertThat(sum / row).isCloseTo(loss, within(1e-5));
      assertThat(read(file, "layers.2.norm.weight"))
          .isEqualTo(
              weights
                  .values(weights.parameter("model.layers.2.input_layernorm.weight"))
                  .toArray(ValueLayout.JAVA_FLOAT));
    }
  }

  private static double crossEntropy(float[] rows, int row, float[] embedding, int target) {
    double total = 0;
    double wanted = 0;
    for (int v = 0; v < VOCABULARY; v++) {
      double logit = 0;
      for (int i = 0; i < WIDTH; i++) {
        logit += (double) rows[row * WIDTH + i] * embedding[v * WIDTH + i];
      }
      total += Math.exp(logit);
      wanted = v == target ? logit : wanted;
    }
    return Math.log(total) - wanted;
  }

  @Test
  void withoutNormsThereAreNoGains() throws IOException {
    Path path = folder.resolve("none.safetensors");
    assertThat(
            CommandResult.of("story", "--tokens", "1", "--like", "none", "--activations", "" + path)
                .status())
        .isZero();
    try (TensorFile file = TensorFile.open(path)) {
      assertThat(file.tensors())
          .extracting(tensor -> tensor.name())
          .isEqualTo(
              List.of(
                  "layers.0.hidden",
                  "layers.1.hidden",
                  "layers.2.hidden",
                  "layers.3.hidden",
                  "layers.4.hidden",
                  "layers.5.hidden"));
      assertThat(file.metadata()).containsEntry("norms", "none");
    }
  }

  @Test
  void aFileThatCannotBeWrittenIsToldFirst() throws IOException {
    Path there = Files.writeString(folder.resolve("there.safetensors"), "kept");
    assertWrongUse("" + there, "exists already; --force replaces it");
    assertThat(there).hasContent("kept");
    assertWrongUse("acts.npy", "--activations is acts.npy, its name must end in .safetensors");
    assertWrongUse("", "--activations is empty, it must name a file that ends in .safetensors");
    assertWrongUse("" + folder.resolve("no/acts.safetensors"), "there is no folder");
  }

  private static void assertWrongUse(String file, String message) {
    CommandResult result = CommandResult.of("story", "--activations", file);
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err()).hasLineCount(1).contains(message);
    assertThat(result.out()).isEmpty();
  }
}
