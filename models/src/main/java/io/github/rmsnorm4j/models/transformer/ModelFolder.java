package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.formats.ReplacingFile;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A model as Hugging Face stores it: a folder with {@code config.json} and {@code
 * model.safetensors}, or a sharded set of files with its index.
 *
 * <p>Saving over a model of the same config replaces its weights in one step. A folder that holds
 * anything else is left alone, so a crash at any moment loses nothing that was there.
 */
public final class ModelFolder {
  private static final String CONFIG = "config.json";
  private static final String WEIGHTS = "model.safetensors";

  private ModelFolder() {}

  /**
   * Saves a model, in float32.
   *
   * @param folder where to; made if it is not there
   * @param weights the model
   * @throws FileAlreadyExistsException if there is a model of another config, or weights without
   *     one
   * @throws IllegalArgumentException if the model is not of {@link BlockForm#LLAMA}
   * @throws IOException if it cannot be written; what was there before is there still
   */
  public static void save(Path folder, Weights weights) throws IOException {
    byte[] config = weights.config().toJson().getBytes(StandardCharsets.UTF_8);
    Files.createDirectories(folder);
    Path configFile = folder.resolve(CONFIG);
    Path weightsFile = folder.resolve(WEIGHTS);
    if (Files.exists(configFile)) {
      if (!config(folder).equals(weights.config())) {
        throw exists(configFile, "is of another model: choose another folder");
      }
    } else if (Files.exists(weightsFile)) {
      throw exists(weightsFile, "exists already, and without a " + CONFIG);
    } else {
      try (ReplacingFile file = ReplacingFile.create(configFile, false)) {
        file.write(MemorySegment.ofArray(config));
        file.commit();
      }
    }
    List<Tensor> tensors = weights.config().tensors("");
    Map<String, String> metadata = Map.of("format", "pt");
    try (TensorWriter file = TensorWriter.create(weightsFile, tensors, metadata, true)) {
      weights.write(file);
      file.commit();
    }
  }

  private static FileAlreadyExistsException exists(Path file, String problem) {
    return new FileAlreadyExistsException(file.toString(), null, problem);
  }

  /**
   * Loads a model: one saved here, or a Llama, Mistral, Qwen 2, Qwen 3, GPT-2 or GPT-NeoX in
   * float64, float32, float16 or bfloat16, in one file or sharded. GPT-2 and GPT-NeoX may have
   * RMSNorms with gain and bias instead of their LayerNorms; their type is then {@code
   * rmsnorm4j-gpt2} or {@code rmsnorm4j-gpt_neox}. Only models of Llama's form can be trained and
   * saved.
   *
   * @param folder where it is
   * @return its weights, in float32
   * @throws NoSuchFileException if a file is missing
   * @throws FormatException if a file is not as it should be, lacks a tensor or has one of another
   *     shape, or the config is of a formula that is not known here
   * @throws IOException if a file cannot be read
   */
  public static Weights load(Path folder) throws IOException {
    ModelConfig config = config(folder);
    try (TensorFile file = openTensors(folder)) {
      return StoredWeights.of(file, config).all();
    }
  }

  /** The config of a folder. */
  static ModelConfig config(Path folder) throws IOException {
    Path file = folder.resolve(CONFIG);
    return ConfigReader.read(file, JsonFile.read(file));
  }

  /** The tensors of a folder, in one file or in several. */
  static TensorFile openTensors(Path folder) throws IOException {
    Path weights = folder.resolve(WEIGHTS);
    if (!Files.exists(weights) && !Files.exists(folder.resolve(WEIGHTS + ".index.json"))) {
      throw new NoSuchFileException(weights.toString(), null, "there is no such file");
    }
    return TensorFile.open(folder);
  }
}
