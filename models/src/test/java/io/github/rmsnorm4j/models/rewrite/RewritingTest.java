package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Folders that are rewritten: their files, and what stands in the way. */
class RewritingTest {
  @TempDir private Path folder;
  private Path out;

  private Path out() {
    out = folder.resolve("out");
    return out;
  }

  private Rewriting.Result write(Path in, Path out, Goal goal, boolean untie) throws IOException {
    try (Rewriting rewriting = Rewriting.open(in, Optional.empty(), goal, untie)) {
      return rewriting.write(out, true, _ -> {});
    }
  }

  private Path llama(int shards) throws IOException {
    return TestModel.llama("llama", true).write(folder.resolve("in" + shards), Dtype.BF16, shards);
  }

  /** The content of all files by name. */
  static Map<String, String> files(Path folder) throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> entries = Files.list(folder)) {
      for (Path file : entries.toList()) {
        files.put(file.getFileName().toString(), Arrays.toString(Files.readAllBytes(file)));
      }
    }
    return files;
  }

  @ParameterizedTest
  @EnumSource(
      value = Dtype.class,
      names = {"F64", "F32", "F16", "BF16"})
  void foldedTwiceIsFoldedOnce(Dtype dtype) throws IOException {
    Path in = TestModel.llama("gemma", false).write(folder.resolve("in"), dtype, 2);
    Path twice = folder.resolve("twice");
    RoundingCount first = write(in, out(), Goal.FOLD, false).rounding();
    assertThat(first.computed()).isPositive();
    assertThat(files(out)).isNotEqualTo(files(in));
    RoundingCount second = write(out, twice, Goal.FOLD, false).rounding();
    assertThat(second).isEqualTo(RoundingCount.NONE);
    assertThat(files(twice)).isEqualTo(files(out));
    try (Rewriting rewriting = Rewriting.open(out, Optional.empty(), Goal.FOLD, false)) {
      assertThat(rewriting.plan().norms()).allMatch(norm -> norm.fate() == Fate.PLAIN);
      assertThat(rewriting.plan().edits()).isEmpty();
    }
  }

  @Test
  void shardsDoNotMatter() throws IOException {
    write(llama(1), folder.resolve("out1"), Goal.FOLD, true);
    write(llama(3), folder.resolve("out3"), Goal.FOLD, true);
    try (TensorFile one = TensorFile.open(folder.resolve("out1"));
        TensorFile three = TensorFile.open(folder.resolve("out3"))) {
      assertThat(three.tensors()).containsExactlyInAnyOrderElementsOf(one.tensors());
      for (var tensor : one.tensors()) {
        assertThat(TestModel.read(folder.resolve("out3"), tensor.name()))
            .as(tensor.name())
            .isEqualTo(TestModel.read(folder.resolve("out1"), tensor.name()));
      }
    }
  }

  /** The head of its own is in the last shard, and the index says so. */
  @Test
  void anUntiedHeadIsAddedToTheIndex() throws IOException {
    Path in = llama(3);
    write(in, out(), Goal.FOLD, true);
    String index = "model.safetensors.index.json";
    String[] before = Files.readString(in.resolve(index)).split("\n");
    String[] after = Files.readString(out.resolve(index)).split("\n");
    assertThat(after).hasSize(before.length + 1);
    assertThat(Arrays.asList(after))
        .contains("    \"lm_head.weight\": \"model-00003-of-00003.safetensors\"");
    long size = Long.parseLong(before[1].replaceAll("\\D", ""));
    long head = TestModel.VOCABULARY * TestModel.WIDTH * 2;
    assertThat(after[1]).isEqualTo("  \"metadata\": {\"total_size\": %d},".formatted(size + head));
    assertThat(Files.readString(out.resolve("config.json")))
        .isEqualTo(
            Files.readString(in.resolve("config.json"))
                .replace("\"tie_word_embeddings\":true", "\"tie_word_embeddings\":false"));
    assertThat(TestModel.read(out, "model.embed_tokens.weight"))
        .isEqualTo(TestModel.read(in, "model.embed_tokens.weight"));
  }

  @Test
  void withoutUntieTheLastNormKeepsItsGain() throws IOException {
    Path in = llama(2);
    write(in, out(), Goal.FOLD, false);
    assertThat(TestModel.read(out, "model.norm.weight"))
        .isEqualTo(TestModel.read(in, "model.norm.weight"));
    assertThat(TestModel.read(out, "model.layers.1.input_layernorm.weight")).containsOnly(1);
    for (String file : List.of("config.json", "model.safetensors.index.json")) {
      assertThat(Files.mismatch(out.resolve(file), in.resolve(file))).isEqualTo(-1);
    }
  }

  @Test
  void aConvertedModelSaysWhatItIs() throws IOException {
    Path in = TestModel.gpt2(TestModel.WIDTH).write(folder.resolve("in"), Dtype.F32, 1);
    write(in, out(), Goal.CONVERT, true);
    assertThat(Files.readString(out.resolve("config.json")))
        .isEqualTo(
            """
            {
              "architectures": ["Rmsnorm4jGPT2LMHeadModel"],
              "model_type": "rmsnorm4j-gpt2",
              "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 12, "vocab_size": 29,
              "layer_norm_epsilon": 1e-05,
              "tie_word_embeddings": false
            }
            """);
    assertThat(TestModel.read(out, "lm_head.weight"))
        .as("the head is the embedding, not centred")
        .isEqualTo(TestModel.read(in, "transformer.wte.weight"));
    assertThatThrownBy(() -> write(out, folder.resolve("again"), Goal.CONVERT, true))
        .isInstanceOf(RefusedException.class)
        .hasMessage(out + " cannot be converted: it has RMSNorm already");
  }

  /** A map tells of the model, not of the result, whose norms are others. */
  @Test
  void aModelIsConvertedByAMap() throws IOException {
    Path map =
        Files.writeString(folder.resolve("map"), "{\"family\": \"Mine\", \"like\": \"GPT-2\"}");
    Path in = TestModel.gpt2(TestModel.WIDTH).write(folder.resolve("in"), Dtype.F32, 1);
    write(in, folder.resolve("whole"), Goal.CONVERT, true);
    try (Rewriting rewriting = Rewriting.open(in, Optional.of(map), Goal.CONVERT, true)) {
      assertThat(rewriting.write(out(), true, _ -> {}).isInPlace()).isTrue();
    }
    assertThat(files(out)).isEqualTo(files(folder.resolve("whole")));
  }

  @Test
  void otherFilesAreCopiedAndFoldersAreNot() throws IOException {
    Path in = llama(2);
    Files.writeString(in.resolve(".gitattributes"), "*.safetensors");
    Files.createDirectory(in.resolve("original"));
    try (Rewriting rewriting = Rewriting.open(in, Optional.empty(), Goal.FOLD, false)) {
      rewriting.write(out(), true, _ -> {});
      assertThat(rewriting.folders()).containsExactly("original");
    }
    assertThat(out.resolve(".gitattributes")).hasContent("*.safetensors");
    assertThat(out.resolve("original")).doesNotExist();
  }

  @Test
  void theModelStaysAsItIs() throws IOException {
    Path in = llama(2);
    Map<String, String> before = files(in);
    write(in, out(), Goal.FOLD, true);
    assertThat(files(in)).isEqualTo(before);
  }

  @Test
  void anEmptyFolderIsReplacedAndNothingElse() throws IOException {
    Path in = llama(1);
    write(in, Files.createDirectory(out()), Goal.FOLD, false);
    assertThat(out.resolve("config.json")).exists();
    assertThatThrownBy(() -> write(in, out, Goal.FOLD, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("OUT is " + out + ", which exists already: only an empty folder is replaced");
    Path file = Files.writeString(folder.resolve("file"), "mine");
    assertThatThrownBy(() -> write(in, file, Goal.FOLD, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("exists already");
    Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("nowhere"));
    assertThatThrownBy(() -> write(in, link, Goal.FOLD, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("OUT is " + link + ", which is a link: name the folder itself");
    Path partial = Files.writeString(folder.resolve("new.partial"), "a file");
    assertThatThrownBy(() -> write(in, folder.resolve("new"), Goal.FOLD, false))
        .isInstanceOf(FileSystemException.class)
        .hasMessage(partial + ": is no folder, and OUT grows in a folder of that name");
    assertThat(partial).hasContent("a file");
  }

  @Test
  void outIsNeverTheModelOrInIt() throws IOException {
    Path in = llama(1);
    Path link = Files.createSymbolicLink(folder.resolve("link"), in);
    for (Path inside :
        List.of(in, in.resolve("out"), link.resolve("out"), link.resolve("../in1"))) {
      assertThatThrownBy(() -> write(in, inside, Goal.FOLD, false))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "OUT is " + inside + ", which is the model or in it: the model is never written to");
    }
    Path nowhere = folder.resolve("no/out");
    assertThatThrownBy(() -> write(in, nowhere, Goal.FOLD, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "OUT is %s, but there is no folder %s".formatted(nowhere, folder.resolve("no")));
    assertThat(files(in)).hasSize(2);
  }

  @Test
  void anotherPartialFolderIsLeftAlone() throws IOException {
    Path in = llama(1);
    Path partial = Files.createDirectory(folder.resolve("out.partial"));
    Files.writeString(partial.resolve("thesis.txt"), "mine");
    assertThatThrownBy(() -> write(in, out(), Goal.FOLD, false))
        .isInstanceOf(FileSystemException.class)
        .hasMessage(
            partial
                + ": is of another command, or the model has changed since: delete it, or write elsewhere");
    assertThat(partial.resolve("thesis.txt")).hasContent("mine");
    assertThat(files(partial)).hasSize(1);
  }

  @Test
  void aFileIsNoModel() throws IOException {
    Path gguf = Files.writeString(folder.resolve("m.gguf"), "GGUF");
    assertThatThrownBy(() -> write(gguf, out(), Goal.FOLD, false))
        .isInstanceOf(FormatException.class)
        .hasMessage(
            gguf + ": is a file; a folder of Hugging Face can be folded, GGUF is only read");
  }

  private void config(Path model, UnaryOperator<String> change) throws IOException {
    Path config = model.resolve("config.json");
    Files.writeString(config, change.apply(Files.readString(config)));
  }

  /** Programs read the setting of the text model, some that of the whole model. */
  @Test
  void aHeadIsUntiedInTheTextModelToo() throws IOException {
    Path in = llama(1);
    config(in, text -> "{\"model_type\": \"llama\", \"text_config\": " + text + "}");
    assertThat(write(in, out(), Goal.FOLD, true).isInPlace()).isTrue();
    String written = Files.readString(out.resolve("config.json"));
    assertThat(written.split("\"tie_word_embeddings\": ?false", -1)).hasSize(3);
    assertThat(written).doesNotContainPattern("\"tie_word_embeddings\": ?true");
  }

  @Test
  void anEpsilonOfZeroIsNoDifference() throws IOException {
    Path in = llama(1);
    config(in, text -> text.replaceFirst("(\"rms_norm_eps\": ?)[^,}]*", "$10"));
    assertThat(Files.readString(in.resolve("config.json"))).containsPattern("eps\": ?0\\s*[,}]");
    assertThat(write(in, out(), Goal.FOLD, false).isInPlace()).isTrue();
  }

  @Test
  void aConfigThatCannotBeEditedIsSeenBeforeAnythingIsWritten() throws IOException {
    Path in = llama(1);
    Path config = in.resolve("config.json");
    String text = Files.readString(config);
    Files.writeString(config, text, StandardCharsets.UTF_16);
    assertThatThrownBy(() -> write(in, out(), Goal.FOLD, true))
        .isInstanceOf(FormatException.class)
        .hasMessage(config + ": is no JSON: it is not UTF-8");
    Files.writeString(config, "\ufeff" + text);
    assertThatThrownBy(() -> write(in, out(), Goal.FOLD, true))
        .isInstanceOf(FormatException.class)
        .hasMessage(config + ": has to be changed, but begins with a byte order mark");
    assertThat(folder.resolve("out.partial")).doesNotExist();
    assertThat(write(in, out(), Goal.FOLD, false).isInPlace()).as("nothing to edit").isTrue();
  }

  @Test
  void otherWeightsAreNamed() throws IOException {
    Path in = llama(1);
    Files.writeString(in.resolve("consolidated.safetensors"), "as it is");
    Files.writeString(in.resolve("pytorch_model.bin"), "as it is");
    Files.writeString(in.resolve("notes.txt"), "as it is");
    try (Rewriting rewriting = Rewriting.open(in, Optional.empty(), Goal.FOLD, false)) {
      assertThat(rewriting.otherWeights())
          .containsExactly("consolidated.safetensors", "pytorch_model.bin");
    }
  }
}
