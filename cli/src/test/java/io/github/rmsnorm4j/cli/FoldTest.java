package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.models.transformer.ModelFolder;
import io.github.rmsnorm4j.models.transformer.Stories260K;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rmsnorm fold} and {@code convert} on the trained model that comes with the project. */
class FoldTest {
  @TempDir private Path folder;
  private Path model;
  private Path out;

  @BeforeEach
  void save() throws IOException {
    model = folder.resolve("model");
    out = folder.resolve("out");
    try (Weights trained = Stories260K.weights()) {
      ModelFolder.save(model, trained);
    }
  }

  private CommandResult fold(Object... options) {
    return run("fold", options);
  }

  private CommandResult run(String command, Object... options) {
    return CommandResult.of(
        Stream.concat(
                Stream.of(command, "" + model, "-o", "" + out),
                Stream.of(options).map(Object::toString))
            .toArray(String[]::new));
  }

  @Test
  void saysWhatItFoldedAndProvesIt() {
    CommandResult result = fold();
    assertThat(result.err()).matches("(?s).*/out: the model folded, in \\d+\\.\\d\\d s\\R");
    assertThat(result.status()).isZero();
    assertThat(result.outLines())
        .startsWith(
            "Llama: 11 norms, 10 folded, 0 without gain and bias, 1 left alone",
            "  model.layers.N.input_layernorm, N = 0 to 4: folded into",
            "    model.layers.N.self_attn.q_proj, model.layers.N.self_attn.k_proj,",
            "    model.layers.N.self_attn.v_proj",
            "  model.layers.N.post_attention_layernorm, N = 0 to 4: folded into",
            "    model.layers.N.mlp.gate_proj, model.layers.N.mlp.up_proj",
            "  model.norm: left alone: the head is also the token embedding (--untie gives",
            "    it a matrix of its own)")
        .anyMatch(line -> line.matches("  elements of W diag\\(g\\) +183,808 +0\\.\\d+"))
        .anyMatch(line -> line.matches("  tensors that keep their bytes +11 +equal"))
        .anyMatch(line -> line.startsWith("whole model: for 24 random tokens the logits"))
        .allMatch(line -> line.length() < 80);
  }

  @Test
  void foldedTwiceItSaysThatNothingIsLeft() throws IOException {
    assertThat(fold("--untie").status()).isZero();
    Path once = out;
    model = out;
    out = folder.resolve("twice");
    CommandResult result = fold("--untie");
    assertThat(result.outLines())
        .startsWith("Llama: 11 norms, 0 folded, 11 without gain and bias, 0 left alone")
        .contains(
            "nothing is folded: all tensors are copied as they are",
            "--untie changes nothing: the head is not tied",
            "rounding: no number was computed");
    for (String file : List.of("model.safetensors", "config.json")) {
      assertThat(Files.mismatch(once.resolve(file), out.resolve(file))).isEqualTo(-1);
    }
  }

  @Test
  void quietIsQuiet() {
    CommandResult result = fold("-q");
    assertThat(result.out() + result.err()).isEmpty();
    assertThat(out).isDirectory();
  }

  @Test
  void withoutTheProofItSaysSo() {
    CommandResult result = fold("--no-verify");
    assertThat(result.outLines()).last().asString().startsWith("proof: skipped");
    assertThat(out).isDirectory();
  }

  private void assertRefused(CommandResult result, int status, String message) {
    assertThat(result.err()).isEqualToIgnoringNewLines(message);
    assertThat(result.status()).isEqualTo(status);
    assertThat(result.out()).isEmpty();
    assertThat(out.resolve("config.json")).doesNotExist();
  }

  @Test
  void refusesInOneLine() throws IOException {
    assertRefused(
        run("convert", "--to", "rmsnorm"),
        1,
        "rmsnorm convert: " + model + " cannot be converted: it has RMSNorm already");
    assertRefused(
        run("convert", "--to", "layernorm"),
        2,
        "rmsnorm convert: --to is 'layernorm', it may be rmsnorm (rmsnorm convert --help tells more)");
    Files.createDirectory(out);
    Files.writeString(out.resolve("mine"), "");
    assertRefused(
        fold(),
        2,
        "rmsnorm fold: OUT is %s, which exists already: only an empty folder is replaced (rmsnorm fold --help tells more)"
            .formatted(out));
    model = Files.writeString(folder.resolve("m.gguf"), "GGUF");
    assertRefused(
        fold(),
        1,
        "rmsnorm fold: %s: is a file; a folder of Hugging Face can be folded, GGUF is only read"
            .formatted(model));
    model = Path.of("");
    assertRefused(
        fold(),
        2,
        "rmsnorm fold: MODEL is empty, it must name a folder (rmsnorm fold --help tells more)");
  }

  /** A map that says of the values' matrix that no norm feeds it: the model is not of that kind. */
  @Test
  void rulesOfAMapAreUsed() throws IOException {
    Path map =
        Files.writeString(
            folder.resolve("map.json"),
            """
            {"family": "Mine", "like": "Llama", "norms": [
              {"name": "model.layers.{layer}.input_layernorm", "kept": "it is mine"},
              {"name": "model.layers.{layer}.post_attention_layernorm", "consumers": ["model.layers.{layer}.mlp.{gate,up}_proj"]},
              {"name": "model.norm", "consumers": ["{head}"]}],
              "others": ["model.layers.{layer}.self_attn.{q,k,v}_proj"]}
            """);
    CommandResult result = fold("--map", map);
    assertThat(result.err()).contains("the model folded");
    assertThat(result.outLines())
        .startsWith("Mine: 11 norms, 5 folded, 0 without gain and bias, 6 left alone")
        .contains("  model.layers.N.input_layernorm, N = 0 to 4: left alone: it is mine");
  }

  /** A Llama that says that it is a Gemma: gains that look like g where it stores g - 1. */
  @Test
  void gainsThatLookOtherwiseNeedTrust() throws IOException {
    Path config = model.resolve("config.json");
    String text = Files.readString(config);
    Files.writeString(config, text.replaceFirst("(\"model_type\" ?: ?)\"llama\"", "$1\"gemma\""));
    assertRefused(
        fold("-q"),
        1,
        "rmsnorm fold: %s cannot be folded: model.layers.0.input_layernorm.weight looks like g (as 10 such norms do), where Gemma stores g - 1; see rmsnorm inspect, and --trust-gains"
            .formatted(model));
    assertThat(fold("-q", "--trust-gains").status()).isZero();
  }

  /** Rules that forget a consumer: the logits differ, and nothing is put in place. */
  @Test
  void aResultThatDiffersIsNotPutInPlace() throws IOException {
    Path map =
        Files.writeString(
            folder.resolve("map.json"),
            """
            {"family": "Forgetful", "like": "Llama", "norms": [
              {"name": "model.layers.{layer}.input_layernorm", "consumers": ["model.layers.{layer}.self_attn.{q,k}_proj"]},
              {"name": "model.layers.{layer}.post_attention_layernorm", "consumers": ["model.layers.{layer}.mlp.{gate,up}_proj"]},
              {"name": "model.norm", "consumers": ["{head}"]}],
              "others": ["model.layers.{layer}.self_attn.v_proj"]}
            """);
    CommandResult result = fold("--map", map);
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.outLines()).last().asString().endsWith("which is exceeded");
    assertThat(result.err())
        .isEqualToIgnoringNewLines(
            "rmsnorm fold: %s: not written: the result would differ from the model by more than rounding explains: logits"
                .formatted(out));
    assertThat(folder)
        .isDirectoryNotContaining(path -> path.getFileName().toString().startsWith("out"));
  }
}
