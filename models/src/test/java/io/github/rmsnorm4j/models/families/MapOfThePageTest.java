package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.models.rewrite.Goal;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import io.github.rmsnorm4j.models.rewrite.Rewriting;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of rules in docs/models.md folds a model of its names. */
class MapOfThePageTest {
  @TempDir private Path folder;

  private static String renamed(String tensor) {
    return tensor
        .replace("input_layernorm", "norm_1")
        .replace("post_attention_layernorm", "norm_2")
        .replace("self_attn", "attn");
  }

  private static TinyModel model() {
    TinyModel qwen3 = Layouts.ALL.get("qwen3").model(StoredType.F32, 1);
    Map<String, Object> config = new LinkedHashMap<>(qwen3.config());
    config.put("model_type", "mine");
    config.put("norm_eps", config.remove("rms_norm_eps"));
    Map<String, Values> tensors = new LinkedHashMap<>();
    qwen3.tensors().forEach((name, values) -> tensors.put(renamed(name), values));
    return new TinyModel(config, tensors);
  }

  @Test
  void theExampleFolds() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "models.md"));
    String after = page.substring(page.indexOf("```json\n") + "```json\n".length());
    Path map = folder.resolve("rules.json");
    Files.writeString(map, after.substring(0, after.indexOf("```")));
    Path in = HuggingFaceFolder.write(model(), folder.resolve("in"), 1);
    try (Rewriting rewriting =
        Rewriting.open(in, new Wish(Goal.FOLD, Optional.of(map), true, true))) {
      assertThat(rewriting.outcomes())
          .allMatch(
              norm ->
                  norm.fate()
                      == (norm.site().name().matches(".*[qk]_norm") ? Fate.KEPT : Fate.FOLDED));
      assertThat(rewriting.write(folder.resolve("out"), true, _ -> {}).difference()).isEmpty();
    }
  }
}
