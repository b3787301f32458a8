package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.testing.GgufBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One model in each form: a file, a folder, a sharded set, GGUF. Every command reads them alike.
 */
class ModelFilesTest {
  private static final TestTensor GAIN = TestTensor.random("norm.weight", Dtype.F32, 1, 1, 32);
  private static final TestTensor MATRIX = TestTensor.random("q.weight", Dtype.F32, 0, 2, 3, 32);

  @TempDir Path folder;

  private Path x;

  @BeforeEach
  void models() throws IOException {
    x = TestTensor.write(folder.resolve("x.npy"), TestTensor.random("", Dtype.F32, 0, 3, 5, 32));
    Map<String, String> format = Map.of("format", "pt");
    Path whole = Files.createDirectory(folder.resolve("whole"));
    TestTensor.write(whole.resolve("model.safetensors"), format, MATRIX, GAIN);
    Path sharded = Files.createDirectory(folder.resolve("sharded"));
    TestTensor.write(sharded.resolve("model-00001-of-00002.safetensors"), format, MATRIX);
    TestTensor.write(sharded.resolve("model-00002-of-00002.safetensors"), format, GAIN);
    Files.writeString(
        sharded.resolve("model.safetensors.index.json"),
        """
        {"metadata": {"total_size": 512},
         "weight_map": {"norm.weight": "model-00002-of-00002.safetensors",
                        "q.weight": "model-00001-of-00002.safetensors"}}
        """);
    gguf("model.gguf", new GgufBytes());
    gguf(
        "quantized.gguf",
        new GgufBytes()
            .tensor("blk.0.\u001b.weight", GgufBytes.Q4_0, new byte[36], 2, 32)
            .texts("tokenizer.ggml.tokens", "<s>", "a"));
  }

  private void gguf(String name, GgufBytes more) throws IOException {
    byte[] content =
        more.text("general.architecture", "llama\u202e")
            .float32("llama.attention.layer_norm_rms_epsilon", 1e-5f)
            .tensor("q.weight", GgufBytes.F32, MATRIX.bytes(), 3, 32)
            .tensor("norm.weight", GgufBytes.F32, GAIN.bytes(), 32)
            .toBytes();
    Files.write(folder.resolve(name), content);
  }

  private CommandResult run(String... args) {
    CommandResult result = CommandResult.of(args);
    assertThat(result.status()).as(result.err()).isZero();
    return result;
  }

  private String at(String name) {
    return folder.resolve(name).toString();
  }

  @Test
  void showListsAModel() {
    List<String> tensors = List.of("q.weight f32 [3, 32]", "norm.weight f32 [32]");
    assertThat(run("show", at("whole")).outLines())
        .containsExactly(tensors.get(0), tensors.get(1), "1 entry of metadata");
    List<String> sharded =
        List.of(tensors.get(0), tensors.get(1), "2 tensors in 2 shards", "1 entry of metadata");
    assertThat(run("show", at("sharded")).outLines()).isEqualTo(sharded);
    assertThat(run("show", at("sharded/model.safetensors.index.json")).outLines())
        .isEqualTo(sharded);
    assertThat(run("show", at("quantized.gguf")).outLines())
        .containsExactly(
            "blk.0.\\u{1b}.weight q4_0 [2, 32]",
            tensors.get(0),
            tensors.get(1),
            "tokenizer.ggml.tokens: 2 of string",
            "general.architecture: llama\\u{202e}",
            "llama.attention.layer_norm_rms_epsilon: 1.0E-5");
  }

  @Test
  void showSaysThatQuantizedElementsAreNotShown() {
    assertThat(run("show", at("quantized.gguf") + ":blk.0.\u001b.weight").outLines())
        .containsExactly(
            "blk.0.\\u{1b}.weight q4_0 [2, 32]", "  elements of this type are not shown");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sharded",
        "sharded/model.safetensors.index.json",
        "model.gguf",
        "quantized.gguf",
        "whole/model.safetensors"
      })
  void everyCommandReadsEveryForm(String model) throws IOException {
    for (String command : List.of("show", "stats")) {
      for (String tensor : List.of(":norm.weight", ":q.weight")) {
        assertThat(run(command, at(model) + tensor)).isEqualTo(run(command, at("whole") + tensor));
      }
    }
    assertThat(result("normalize", x.toString(), "--gain", at(model) + ":norm.weight"))
        .isEqualTo(result("normalize", x.toString(), "--gain", at("whole") + ":norm.weight"));
    assertThat(result("normalize", at(model) + ":q.weight"))
        .isEqualTo(result("normalize", at("whole") + ":q.weight"));
    assertThat(gradient(model)).isEqualTo(gradient("whole"));
  }

  private byte[] gradient(String model) throws IOException {
    String gain = at(model) + ":norm.weight";
    return result(
        "gradient", at(model) + ":q.weight", "--dy", at("whole") + ":q.weight", "--gain", gain);
  }

  private byte[] result(String... args) throws IOException {
    String[] all = Arrays.copyOf(args, args.length + 3);
    all[args.length] = "-o";
    all[args.length + 1] = at("y.npy");
    all[args.length + 2] = "--force";
    run(all);
    return Files.readAllBytes(folder.resolve("y.npy"));
  }

  @Test
  void statsPassesOverQuantizedTensors() {
    assertThat(run("stats", at("quantized.gguf")).outLines())
        .startsWith(
            "blk.0.\\u{1b}.weight q4_0 [2, 32]: its elements are neither f64, f32, f16 nor bf16",
            "",
            "q.weight f32 [3, 32]: 3 rows of 32");
  }

  /** A model without quantised tensors becomes .safetensors, with its metadata. */
  @Test
  void normalizeWritesAModelAgain() throws IOException {
    for (String model : List.of("sharded", "model.gguf")) {
      Path out = folder.resolve("out.safetensors");
      run("normalize", at(model), "-o", out.toString(), "--force");
      assertThat(TestTensor.read(out, "norm.weight").bytes()).isEqualTo(GAIN.bytes());
      run("normalize", at("whole") + ":q.weight", "-o", at("q.safetensors"), "--force");
      assertThat(TestTensor.read(out, "q.weight").bytes())
          .isEqualTo(TestTensor.read(folder.resolve("q.safetensors"), "q.weight").bytes());
      assertThat(run("show", out.toString()).outLines().getLast())
          .isEqualTo(model.equals("sharded") ? "1 entry of metadata" : "2 entries of metadata");
    }
  }

  @Test
  void quantizedTensorsAreRefusedInOneLine() {
    String model = at("quantized.gguf");
    String name = "blk.0.\u001b.weight";
    String out = at("out.safetensors");
    assertRefused(
        "tensor blk.0.\\u{1b}.weight q4_0 [2, 32] is of a quantised type that .safetensors does"
            + " not have",
        "normalize",
        model,
        "-o",
        out);
    assertRefused(
        "the gain is blk.0.\\u{1b}.weight q4_0 [2, 32], it may be f64, f32, f16 or bf16",
        "normalize",
        x.toString(),
        "-o",
        out,
        "--gain",
        model + ":" + name);
    assertRefused(
        "its elements are neither f64, f32, f16 nor bf16",
        "normalize",
        model + ":" + name,
        "-o",
        out);
    assertRefused(
        "has 2 tensors, name one as FILE:TENSOR: q.weight f32 [3, 32], norm.weight f32 [32]",
        "normalize",
        x.toString(),
        "-o",
        out,
        "--gain",
        at("sharded"));
  }

  private void assertRefused(String message, String... args) {
    CommandResult result = CommandResult.of(args);
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains(message).hasLineCount(1);
    assertThat(folder.resolve("out.safetensors")).doesNotExist();
  }
}
