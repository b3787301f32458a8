package io.github.rmsnorm4j.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import java.nio.file.Path;
import java.util.Map;

/**
 * Reads a {@code config.json} of a family that is known here. What would change the formula and is
 * not known here is refused, not passed over.
 */
final class ConfigParser {
  private ConfigParser() {}

  /**
   * Reads a config.
   *
   * @param path named in messages
   * @param object what the file holds
   */
  static StoredConfig parse(Path path, Map<String, Object> object) throws FormatException {
    ConfigFields fields = new ConfigFields(path, object);
    try {
      StoredConfig config = config(fields);
      config.model().parameterCount(); // Whether it can be said at all.
      return config;
    } catch (IllegalArgumentException e) {
      throw new FormatException(path, e.getMessage());
    } catch (ArithmeticException e) {
      throw new FormatException(path, "has more parameters than a file can hold");
    }
  }

  private static StoredConfig config(ConfigFields fields) throws FormatException {
    String type = fields.text("model_type", "llama");
    return switch (type) {
      case "llama", "mistral", "qwen2", "qwen3", ConfigJson.OWN_TYPE ->
          new StoredConfig(LlamaConfig.read(fields, type), Naming.LLAMA);
      case "gpt2", GptConfig.CONVERTED + "gpt2" -> GptConfig.GPT2.read(fields, type);
      case "gpt_neox", GptConfig.CONVERTED + "gpt_neox" -> GptConfig.NEOX.read(fields, type);
      default ->
          throw fields.wrong(
              "model_type",
              type,
              "be llama, mistral, qwen2, qwen3, gpt2, gpt_neox, rmsnorm4j, rmsnorm4j-gpt2 or"
                  + " rmsnorm4j-gpt_neox");
    };
  }
}
