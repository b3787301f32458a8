package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.transformer.ModelFolder;
import io.github.rmsnorm4j.transformer.Stories260K;
import io.github.rmsnorm4j.transformer.Weights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rmsnorm inspect}. What it finds is tested in checkpoint, with models of every family. */
class InspectTest {
  @TempDir Path folder;

  private static CommandResult inspect(Object... args) {
    List<String> all = new ArrayList<>(List.of("inspect"));
    Arrays.stream(args).map(Object::toString).forEach(all::add);
    return CommandResult.of(all.toArray(String[]::new));
  }

  private Path stories() throws IOException {
    Path model = folder.resolve("stories");
    try (Weights weights = Stories260K.weights()) {
      ModelFolder.save(model, weights);
    }
    return model;
  }

  @Test
  void showsTheNormsOfATrainedModel() throws IOException {
    CommandResult result = inspect(stories());
    assertThat(result.status()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(result.out().lines())
        .allMatch(line -> line.length() < 80)
        .contains(
            "Llama: 11 norms; the head is tied to the embedding",
            "model.layers.N.input_layernorm",
            "  output goes to self_attn.q_proj, self_attn.k_proj, self_attn.v_proj",
            "    layer      least       mean   greatest   dead  negative  looks like",
            "        4     0.5238      1.040      1.325      0         0  g")
        .doesNotContain("warning");
    assertThat(result.out()).contains("epsilon 1e-5, cast order llama").contains("with --untie");
  }

  @Test
  void writesAPageAndFigures() throws IOException {
    Path page = folder.resolve("norms.html");
    Path data = folder.resolve("norms.json");
    assertThat(inspect(stories(), "--report", page, "--json", data).status()).isZero();
    assertThat(page).content().contains("The norms of stories").contains("Gains by depth");
    assertThat(data)
        .content()
        .contains("\"family\" : \"Llama\"")
        .contains("\"keptBecause\" : null")
        .contains("\"looksLike\" : \"g\"");
    CommandResult again = inspect(stories(), "--report", page);
    assertThat(again.status()).isEqualTo(2);
    assertThat(again.err()).contains("exists already; --force replaces it").hasLineCount(1);
  }

  /** A Llama of one layer whose gains are near 0, with a tensor that no rule tells of. */
  private Path oddModel() throws IOException {
    Path model = Files.createDirectories(folder.resolve("odd"));
    Files.writeString(
        model.resolve("config.json"),
        "{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"rms_norm_eps\": 1e-06}");
    double[] small = {-0.1, 0.1, -0.2, 0.0};
    String layer = "model.layers.0.";
    TestTensor.write(
        model.resolve("model.safetensors"),
        TestTensor.random("model.embed_tokens.weight", Dtype.BF16, 0, 1, 5, 4),
        TestTensor.random("lm_head.weight", Dtype.BF16, 0, 1, 5, 4),
        TestTensor.of("model.norm.weight", Dtype.BF16, small, 4),
        TestTensor.of(layer + "input_layernorm.weight", Dtype.BF16, small, 4),
        TestTensor.of(layer + "post_attention_layernorm.weight", Dtype.BF16, small, 4),
        TestTensor.random(layer + "self_attn.q_proj.weight", Dtype.BF16, 0, 2, 4, 4),
        TestTensor.random(layer + "self_attn.k_proj.weight", Dtype.BF16, 0, 3, 4, 4),
        TestTensor.random(layer + "self_attn.v_proj.weight", Dtype.BF16, 0, 4, 4, 4),
        TestTensor.random(layer + "self_attn.o_proj.weight", Dtype.BF16, 0, 5, 4, 4),
        TestTensor.random(layer + "mlp.gate_proj.weight", Dtype.BF16, 0, 6, 4, 4),
        TestTensor.random(layer + "mlp.router.weight", Dtype.BF16, 0, 6, 4, 4),
        TestTensor.random(layer + "mlp.down_proj.weight", Dtype.BF16, 0, 8, 4, 4));
    return model;
  }

  @Test
  void warnsOfNumbersAndTensorsThatTheRulesDoNotExpect() throws IOException {
    CommandResult result = inspect(oddModel());
    assertThat(result.status()).isZero();
    String text = result.out().replaceAll("\\s+", " ");
    assertThat(text)
        .contains("warning: the rules of Llama do not tell of 1 tensor (model.layers.0.mlp.router")
        .contains("fold: no, the rules of Llama do not tell of model.layers.0.mlp.router")
        .contains("fold: no, model.layers.N.mlp.up_proj.weight, which takes its output, is not in")
        .contains("warning: the stored numbers look like g - 1, but the architecture stores g.")
        .contains("convert: no, it has RMSNorm already");
  }

  /** What fold and convert say themselves. */
  @Test
  void saysWhatFoldAndConvertWouldDo() {
    String text =
        inspect(Shell.CHECKOUT.resolve("examples/tiny-gpt2")).out().replaceAll("\\s+", " ");
    assertThat(text)
        .contains("convert: only with --untie, because the head is also the token embedding")
        .contains("output goes to attn.c_attn fold: yes")
        .contains("fold: no, wte.weight has no bias, which would take the norm's bias");
  }

  @Test
  void wrongUseIsOneLine() throws IOException {
    one(inspect(""), 2, "MODEL is empty");
    one(inspect(folder.resolve("nothing")), 1, "nothing");
    one(inspect(Files.createDirectories(folder.resolve("empty"))), 1, "empty");
    Path model = stories();
    one(inspect(model, "--map", folder.resolve("no.json")), 1, "no.json");
    one(inspect(model, "--map", ""), 2, "--map is empty");
    Files.delete(model.resolve("config.json"));
    one(inspect(model), 1, "config.json: no such file");
    Files.writeString(model.resolve("config.json"), "{\"model_type\": \"rwkv\"}");
    one(inspect(model), 1, "has model_type 'rwkv', whose norms are not known");
    Files.writeString(model.resolve("config.json"), "[]");
    one(inspect(model), 1, "is no JSON object");
  }

  private static void one(CommandResult result, int status, String problem) {
    assertThat(result.status()).as(result.err()).isEqualTo(status);
    assertThat(result.err()).contains(problem).hasLineCount(1);
    assertThat(result.out()).isEmpty();
  }
}
