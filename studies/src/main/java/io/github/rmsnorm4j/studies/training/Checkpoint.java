package io.github.rmsnorm4j.studies.training;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.transformer.ModelConfig;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
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
  /** What the names of the weights' tensors begin with, and those of both moments. */
  private static final List<String> PREFIXES = List.of("", "adamw.means.", "adamw.squares.");

  private static final String NOTE = "note.";

  private final TensorFile file;
  private final ModelConfig config;
  private final TrainingSettings settings;
  private final long step;

  private Checkpoint(TensorFile file) throws FormatException {
    this.file = file;
    config = ModelConfig.parse(file.path(), metadata("config"));
    settings = SettingsText.parse(file.path(), metadata("settings"));
    step = SettingsText.wholeNumber(file.path(), "step", metadata("step"));
    for (Tensor tensor : tensors(config)) {
      if (!file.tensor(tensor.name()).equals(tensor)) {
        throw new FormatException(
            file.path(), "has " + file.tensor(tensor.name()) + ", it must be " + tensor);
      }
    }
  }

  private static List<Tensor> tensors(ModelConfig config) {
    return PREFIXES.stream().flatMap(prefix -> config.tensors(prefix).stream()).toList();
  }

  /** The numbers of each set. */
  private static List<Weights> numbers(Trainer trainer) {
    return List.of(trainer.model().weights(), trainer.optimiser.means, trainer.optimiser.squares);
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
    ModelConfig config = trainer.model().weights().config();
    Map<String, String> metadata = new HashMap<>();
    metadata.put("config", config.toJson());
    metadata.put("settings", SettingsText.write(trainer.settings()));
    metadata.put("step", Long.toString(trainer.step()));
    notes.forEach((key, value) -> metadata.put(NOTE + key, value));
    try (TensorWriter file = TensorWriter.create(path, tensors(config), metadata, true)) {
      for (Weights set : numbers(trainer)) {
        set.write(file);
      }
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
    requireEqual("config", config, trainer.model().weights().config());
    requireEqual("settings", settings, trainer.settings());
    List<Weights> numbers = numbers(trainer);
    for (int i = 0; i < numbers.size(); i++) {
      numbers.get(i).read(file, PREFIXES.get(i));
    }
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
