package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/**
 * A small trained model that comes with this module: Andrej Karpathy's stories260K, a Llama of 5
 * blocks of width 64 that writes stories for children. Its licence, MIT, lies next to it.
 */
public final class Stories260K {
  private static final String FOLDER = "stories260K/";

  private Stories260K() {}

  /**
   * {@return the model's weights, to be closed by the caller}
   *
   * @throws IOException if it cannot be read
   */
  public static Weights weights() throws IOException {
    String name = "model.safetensors";
    Path config = Path.of(FOLDER, "config.json");
    try (TensorFile file = TensorFile.of(Path.of(FOLDER, name), resource(name))) {
      ModelConfig model = ConfigReader.read(config, JsonFile.read(config, resource("config.json")));
      return StoredWeights.of(file, model).all();
    }
  }

  /**
   * {@return its tokenizer, text to tokens and back}
   *
   * @throws IOException if it cannot be read
   */
  public static Tokenizer tokenizer() throws IOException {
    return new Tokenizer(resource("tok512.bin"));
  }

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = Stories260K.class.getResourceAsStream(FOLDER + name)) {
      return in.readAllBytes();
    }
  }
}
