package io.github.rmsnorm4j.studies.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.ModelConfig;
import io.github.rmsnorm4j.models.transformer.ModelFolder;
import io.github.rmsnorm4j.models.transformer.Parameter;
import io.github.rmsnorm4j.models.transformer.StepTimes;
import io.github.rmsnorm4j.models.transformer.StepTimes.Part;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Steps: that they learn, repeat, and go on. */
class TrainerTest {
  private static final int BATCH = 4;
  private static final int SEQUENCE = 16;

  @TempDir Path folder;

  private static ModelConfig config(NormSpec norm) {
    return ModelConfig.of(
        20,
        16,
        2,
        2,
        o -> {
          o.norm = norm;
          o.queryKeyNorm = true;
          o.initialRange = 0.2;
        });
  }

  /** All tensors, one after the other. */
  private static float[] numbers(Weights weights) {
    FloatBuffer all = FloatBuffer.allocate((int) weights.config().parameterCount());
    for (Parameter parameter : weights.parameters()) {
      all.put(weights.values(parameter).toArray(ValueLayout.JAVA_FLOAT));
    }
    return all.array();
  }

  private static RecallTask task() {
    return new RecallTask(20, 3, SEQUENCE, 5);
  }

  /** The same batch at every step. */
  private record OneBatch(BatchSource source) implements BatchSource {
    @Override
    public int vocabulary() {
      return source.vocabulary();
    }

    @Override
    public int sequence() {
      return source.sequence();
    }

    @Override
    public void fill(long step, int[] tokens, int[] targets) {
      source.fill(0, tokens, targets);
    }
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"layernorm", "rmsnorm", "rmsnorm(part=1/16)"})
  void oneBatchIsLearnedByHeart(NormSpec norm) {
    try (Weights weights = new Weights(config(norm)).initialise(3);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC);
        Trainer trainer =
            new Trainer(model, new OneBatch(task()), TrainingSettings.of(150, 0.01))) {
      double first = trainer.takeStep();
      assertThat(first).isBetween(2.0, 5.0);
      while (trainer.step() < 150) {
        trainer.takeStep();
      }
      assertThat(trainer.takeStep()).isLessThan(0.02);
      assertThat(model.correct()).isEqualTo(model.targets()).isEqualTo(3 * BATCH);
    }
  }

  @Test
  void theSameSeedGivesTheSameBits() {
    assertThat(weightsAfter(12)).isEqualTo(weightsAfter(12));
  }

  /** Trainings beside each other, each in a thread of its own, do not meet. */
  @Test
  void trainingsAtTheSameTimeGiveTheBitsOfEachAlone() throws Exception {
    float[] alone = weightsAfter(12);
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      List<Future<float[]>> both =
          threads.invokeAll(List.of(() -> weightsAfter(12), () -> weightsAfter(12)));
      for (Future<float[]> one : both) {
        assertThat(one.get()).isEqualTo(alone);
      }
    }
  }

  private static float[] weightsAfter(int steps) {
    try (Weights weights = new Weights(config(NormSpec.LAYERNORM)).initialise(3);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC);
        Trainer trainer = new Trainer(model, task(), TrainingSettings.of(20, 0.01))) {
      for (int i = 0; i < steps; i++) {
        trainer.takeStep();
      }
      return numbers(weights);
    }
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"layernorm", "rmsnorm", "rmsnorm(part=1/16)"})
  void goingOnFromACheckpointEqualsNeverHavingStopped(NormSpec norm) throws IOException {
    Path path = folder.resolve("run.safetensors");
    TrainingSettings settings = TrainingSettings.of(20, 0.01);
    try (Weights weights = new Weights(config(norm)).initialise(3);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC);
        Trainer trainer = new Trainer(model, task(), settings)) {
      for (int i = 0; i < 20; i++) {
        if (i == 7) {
          Checkpoint.save(path, trainer, Map.of("data", "recall"));
        }
        trainer.takeStep();
      }
      try (Checkpoint checkpoint = Checkpoint.open(path);
          Weights restored = new Weights(checkpoint.config());
          Model again = new Model(restored, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC);
          Trainer goingOn = new Trainer(again, task(), checkpoint.settings())) {
        checkpoint.restore(goingOn);
        assertThat(checkpoint.notes()).isEqualTo(Map.of("data", "recall"));
        assertThat(goingOn.step()).isEqualTo(checkpoint.step()).isEqualTo(7);
        while (goingOn.step() < 20) {
          goingOn.takeStep();
        }
        assertThat(numbers(restored)).isEqualTo(numbers(weights));
      }
    }
  }

  @Test
  void aCheckpointOfAnotherModelIsRefused() throws IOException {
    Path path = folder.resolve("run.safetensors");
    TrainingSettings settings = TrainingSettings.of(20, 0.01);
    try (Weights weights = new Weights(config(NormSpec.RMSNORM)).initialise(3);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC);
        Trainer trainer = new Trainer(model, task(), settings)) {
      Checkpoint.save(path, trainer, Map.of());
    }
    try (Checkpoint checkpoint = Checkpoint.open(path);
        Weights weights = new Weights(config(NormSpec.LAYERNORM)).initialise(4);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC);
        Trainer trainer = new Trainer(model, task(), settings)) {
      float[] before = numbers(weights);
      assertThatThrownBy(() -> checkpoint.restore(trainer))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("norm=rmsnorm,")
          .hasMessageContaining("norm=layernorm,");
      assertThat(numbers(weights)).isEqualTo(before);
    }
  }

  @Test
  void aModelIsNoCheckpoint() throws IOException {
    try (Weights weights = new Weights(config(NormSpec.RMSNORM))) {
      ModelFolder.save(folder, weights);
    }
    assertThatThrownBy(() -> Checkpoint.open(folder.resolve("model.safetensors")))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("is no checkpoint of a training: it lacks config");
  }

  @Test
  void aTruncatedCheckpointIsRefused() throws IOException {
    Path path = folder.resolve("run.safetensors");
    try (Weights weights = new Weights(config(NormSpec.RMSNORM)).initialise(3);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC);
        Trainer trainer = new Trainer(model, task(), TrainingSettings.of(20, 0.01))) {
      Checkpoint.save(path, trainer, Map.of());
    }
    byte[] bytes = Files.readAllBytes(path);
    Files.write(path, Arrays.copyOf(bytes, bytes.length - 4));
    assertThatThrownBy(() -> Checkpoint.open(path)).hasMessageContaining("is truncated");
  }

  @Test
  void whatIsNoNumberStopsTheTrainingAndChangesNothing() {
    try (Weights weights = new Weights(config(NormSpec.RMSNORM)).initialise(3);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC);
        Trainer trainer = new Trainer(model, task(), TrainingSettings.of(20, 0.01))) {
      trainer.takeStep();
      MemorySegment norm = weights.values(weights.parameter("model.norm.weight"));
      norm.setAtIndex(ValueLayout.JAVA_FLOAT, 0, Float.NaN);
      float[] before = numbers(weights);
      assertThatThrownBy(trainer::takeStep)
          .isInstanceOf(DivergedException.class)
          .hasMessageStartingWith("loss is NaN at step 1, at a rate of 0.0100");
      assertThat(numbers(weights)).isEqualTo(before);
      assertThat(trainer.step()).isEqualTo(1);
    }
  }

  /** After the first step the means are a tenth of the gradients that were used. */
  @ParameterizedTest
  @ValueSource(doubles = {0.01, 1000})
  void gradientsAreClippedByTheirNorm(double clip) {
    TrainingSettings settings = new TrainingSettings(5, 0, 0, 1, 0, 0.9, 0.95, 1e-8, clip);
    try (Weights weights = new Weights(config(NormSpec.RMSNORM)).initialise(3);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC);
        Trainer trainer = new Trainer(model, task(), settings)) {
      float[] before = numbers(weights);
      trainer.takeStep();
      double square = 0;
      for (float mean : numbers(trainer.optimiser.means)) {
        square += (double) mean * mean;
      }
      double norm = trainer.gradientNorm();
      assertThat(norm).isBetween(0.1, 100.0);
      assertThat(Math.sqrt(square)).isCloseTo(0.1 * Math.min(norm, clip), withinPercentage(0.01));
      assertThat(numbers(weights)).as("at a rate of 0").isEqualTo(before);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-1 | 20 2 0.01 0.1 0.1 0.9 0.95 1e-8 1 | step is '-1', it must be a whole number",
        "x  | 20 2 0.01 0.1 0.1 0.9 0.95 1e-8 1 | step is 'x', it must be a whole number",
        "1  | 20 2 0.01 0.1 0.1 0.9 0.95 1e-8   | nine numbers are needed",
        "1  | 20 2 0.01 0.1 0.1 0.9 0.95 1e-8 ? | nine numbers are needed",
        "1  | 20 30 0.01 0.1 0.1 0.9 0.95 1e-8 1 | settings: warmup is 30, it must be between 0 and",
        "1  | 20 2 0.01 0.1 0.1 0.9 0.95 1e-8 1 | has model.embed_tokens.weight f32 [0, 16], it must be"
            + " model.embed_tokens.weight f32 [20, 16]",
      })
  void wrongThingsInACheckpoint(String step, String settings, String message) throws IOException {
    Path path = folder.resolve("run.safetensors");
    Map<String, String> metadata =
        Map.of("config", config(null).toJson(), "step", step, "settings", settings);
    Tensor empty = new Tensor("model.embed_tokens.weight", Dtype.F32, List.of(0L, 16L));
    try (TensorWriter writer = TensorWriter.create(path, List.of(empty), metadata, false)) {
      writer.commit();
    }
    assertThatThrownBy(() -> Checkpoint.open(path))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("run.safetensors")
        .hasMessageContaining(message);
  }

  @Test
  void thePartsOfAStepAddUp() {
    try (Weights weights = new Weights(config(NormSpec.RMSNORM)).initialise(3);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC);
        Trainer trainer = new Trainer(model, task(), TrainingSettings.of(20, 0.01))) {
      trainer.takeStep();
      long start = System.nanoTime();
      trainer.takeStep();
      long whole = System.nanoTime() - start;
      StepTimes times = trainer.times();
      for (Part part : Part.values()) {
        assertThat(times.nanos(part)).as("%s", part).isNotNegative(); // A clock may be coarse.
      }
      assertThat(times.totalNanos()).isPositive().isLessThanOrEqualTo(whole);
    }
  }

  @Test
  void aSourceMustFitTheModel() {
    try (Weights weights = new Weights(config(NormSpec.RMSNORM));
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC)) {
      TrainingSettings settings = TrainingSettings.of(1, 0.1);
      assertThatThrownBy(() -> new Trainer(model, new RecallTask(20, 3, 12, 1), settings))
          .hasMessage(
              "the source's sequences have 12 tokens, the model's must have as many, they have 16");
      assertThatThrownBy(() -> new Trainer(model, new RecallTask(22, 3, 16, 1), settings))
          .hasMessage("the source's vocabulary is 22, the model's is 20 and must not be smaller");
    }
  }

  @Test
  void evaluationChangesNothing() {
    try (Weights weights = new Weights(config(NormSpec.RMSNORM)).initialise(3);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, OpenBlas.ARITHMETIC)) {
      Evaluation evaluation = Evaluation.of(model, task(), 100, 3);
      assertThat(evaluation.targets()).isEqualTo(3 * 3 * BATCH);
      assertThat(evaluation.loss()).isCloseTo(Math.log(20), within(1.0));
      assertThat(evaluation.accuracy()).isBetween(0.0, 0.5);
      assertThat(Evaluation.of(model, task(), 100, 3)).isEqualTo(evaluation);
    }
  }
}
