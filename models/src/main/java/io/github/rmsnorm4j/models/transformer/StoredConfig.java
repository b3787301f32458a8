package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.internal.ConfigFields;
import java.nio.file.Path;
import java.util.Map;

/**
 * What the {@code config.json} of a family that is known here says. What would change the formula
 * and is not known here is refused, not passed over.
 *
 * @param model the formula
 * @param naming how the file names the tensors
 */
record StoredConfig(ModelConfig model, Naming naming) {

  /**
   * Reads a config.
   *
   * @param path named in messages
   * @param object what the file holds
   */
  static StoredConfig of(Path path, Map<String, Object> object) throws FormatException {
    try {
      StoredConfig config = of(new ConfigFields(path, object));
      config.model().parameterCount(); // Whether it can be said at all.
      return config;
    } catch (IllegalArgumentException e) {
      throw new FormatException(path, e.getMessage());
    } catch (ArithmeticException e) {
      throw new FormatException(path, "has more parameters than a file can hold");
    }
  }

  private static StoredConfig of(ConfigFields fields) throws FormatException {
    String type = fields.text("model_type", "llama");
    boolean converted = type.startsWith(GptConfig.CONVERTED);
    return switch (type) {
      case "llama", "mistral", "qwen2", "qwen3", ConfigJson.OWN_TYPE ->
          new StoredConfig(LlamaConfig.read(fields, type), Naming.LLAMA);
      case "gpt2", GptConfig.CONVERTED + "gpt2" ->
          new StoredConfig(new GptConfig(fields, true).read(converted), Naming.GPT2);
      case "gpt_neox", GptConfig.CONVERTED + "gpt_neox" ->
          new StoredConfig(new GptConfig(fields, false).read(converted), Naming.GPT_NEOX);
      default ->
          throw fields.wrong(
              "model_type",
              type,
              "be llama, mistral, qwen2, qwen3, gpt2, gpt_neox, rmsnorm4j, rmsnorm4j-gpt2 or"
                  + " rmsnorm4j-gpt_neox");
    };
  }
}
