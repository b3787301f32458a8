package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Training as it was after a step, in one {@code .safetensors} file: weights, both moments, config,
 * settings and the number of steps, and notes of whoever saved it. Training that goes on from it
 * gives the bits of training that never stopped, with the same batches and number of threads.
 *
 * <pre>{@code
 * Checkpoint.save(path, trainer, Map.of("seed", "7"));
 *
 * try (Checkpoint checkpoint = Checkpoint.open(path)) {
 *   Weights weights = new Weights(checkpoint.config());
 *   Trainer trainer = new Trainer(new Model(weights, ...), source, checkpoint.settings());
 *   checkpoint.restore(trainer);
 * }
 * }</pre>
 */
public final class Checkpoint implements Closeable {
  private static final String MEANS = "adamw.means.";
  private static final String SQUARES = "adamw.squares.";
  private static final String NOTE = "note.";

  private final TensorFile file;
  private final ModelConfig config;
  private final TrainingSettings settings;
  private final long step;

  private Checkpoint(TensorFile file) throws FormatException {
    this.file = file;
    byte[] stored = metadata("config").getBytes(StandardCharsets.UTF_8);
    config = StoredConfig.of(file.path(), JsonFile.read(file.path(), stored)).model();
    settings = SettingsText.parse(file.path(), metadata("settings"));
    step = SettingsText.wholeNumber(file.path(), "step", metadata("step"));
    for (String prefix : new String[] {"", MEANS, SQUARES}) {
      TensorReader.check(file, tensors(prefix));
    }
  }

  private List<StoredTensor> tensors(String prefix) {
    return config.parameters().stream()
        .map(parameter -> StoredTensor.of(prefix + parameter.name(), parameter))
        .toList();
  }

  private String metadata(String key) throws FormatException {
    String value = file.metadata().get(key);
    if (value == null) {
      throw new FormatException(file.path(), "is no checkpoint of a training: it lacks " + key);
    }
    return value;
  }

  /**
   * Saves training as it is now. The file is there whole or not at all; until then one that it
   * replaces stays.
   *
   * @param path a name that ends in {@code .safetensors}
   * @param trainer what is saved
   * @param notes texts to be read back by {@link #notes()}
   * @throws IOException if it cannot be written
   */
  public static void save(Path path, Trainer trainer, Map<String, String> notes)
      throws IOException {
    Weights weights = trainer.model().weights();
    List<Parameter> parameters = weights.parameters();
    List<Tensor> tensors = new ArrayList<>();
    for (String prefix : new String[] {"", MEANS, SQUARES}) {
      parameters.forEach(parameter -> tensors.add(ModelFolder.tensor(prefix, parameter)));
    }
    Map<String, String> metadata = new HashMap<>();
    metadata.put("config", ConfigJson.write(weights.config()));
    metadata.put("settings", SettingsText.write(trainer.settings()));
    metadata.put("step", Long.toString(trainer.step()));
    notes.forEach((key, value) -> metadata.put(NOTE + key, value));
    try (TensorWriter file = TensorWriter.create(path, tensors, metadata, true)) {
      ModelFolder.write(file, parameters, weights.values());
      ModelFolder.write(file, parameters, trainer.optimiser.means);
      ModelFolder.write(file, parameters, trainer.optimiser.squares);
      file.commit();
    }
  }

  /**
   * {@return a checkpoint, opened and checked; its tensors are read by {@link #restore}}
   *
   * @param path the file
   * @throws FormatException if it is none, or lacks something
   * @throws IOException if it cannot be read
   */
  public static Checkpoint open(Path path) throws IOException {
    TensorFile file = TensorFile.open(path);
    try {
      return new Checkpoint(file);
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  /** {@return what the model is made of} */
  public ModelConfig config() {
    return config;
  }

  /** {@return how it was trained: the trainer's settings} */
  public TrainingSettings settings() {
    return settings;
  }

  /** {@return after how many steps it was saved, 0 or more} */
  public long step() {
    return step;
  }

  /** {@return the texts that it was saved with} */
  public Map<String, String> notes() {
    return file.metadata().entrySet().stream()
        .filter(note -> note.getKey().startsWith(NOTE))
        .collect(
            Collectors.toMap(note -> note.getKey().substring(NOTE.length()), Map.Entry::getValue));
  }

  /**
   * Makes a trainer go on where the checkpoint is.
   *
   * @param trainer of a model of the same config, with the same settings
   * @throws IllegalArgumentException if config or settings differ; nothing has been changed then
   * @throws IOException if the file cannot be read; the trainer is then not to be used any more
   */
  public void restore(Trainer trainer) throws IOException {
    Weights weights = trainer.model().weights();
    requireEqual("config", config, weights.config());
    requireEqual("settings", settings, trainer.settings());
    TensorReader reader = new TensorReader(file, MatrixChange.NONE);
    reader.read(tensors(""), weights.values());
    reader.read(tensors(MEANS), trainer.optimiser.means);
    reader.read(tensors(SQUARES), trainer.optimiser.squares);
    trainer.optimiser.goOnFrom(step);
  }

  private static void requireEqual(String what, Record saved, Record given) {
    if (!saved.equals(given)) {
      throw new IllegalArgumentException(
          "the checkpoint's %s is %s, the trainer's must be the same, it is %s"
              .formatted(what, saved, given));
    }
  }

  /** Closes the file; what was restored from it stays. */
  @Override
  public void close() throws IOException {
    file.close();
  }
}
