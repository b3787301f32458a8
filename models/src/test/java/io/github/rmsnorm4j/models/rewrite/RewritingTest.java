package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Folders that are rewritten: their files, and what stands in the way. */
class RewritingTest {
  @TempDir private Path folder;
  private Path out;

  private Path out() {
    out = folder.resolve("out");
    return out;
  }

  private Rewriting.Result write(Path in, Path out, Goal goal, boolean untie) throws IOException {
    try (Rewriting rewriting = Rewriting.open(in, new Wish(goal, Optional.empty(), untie, true))) {
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
    assertThat(second).isEqualTo(new RoundingCount(0, 0, 0, 0));
    assertThat(files(twice)).isEqualTo(files(out));
    try (Rewriting rewriting =
        Rewriting.open(out, new Wish(Goal.FOLD, Optional.empty(), false, true))) {
      assertThat(rewriting.outcomes()).allMatch(norm -> norm.fate() == Fate.PLAIN);
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

  private static final String WHOLE = "model.safetensors";
  private static final String INDEX = "model.safetensors.index.json";

  /** The folder has the weights once more; OUT has them once, as if it had not. */
  private void assertCopies(Path in, String... copies) throws IOException {
    try (Rewriting rewriting =
        Rewriting.open(in, new Wish(Goal.FOLD, Optional.empty(), true, true))) {
      assertThat(rewriting.copies()).containsExactly(copies);
      assertThat(rewriting.otherFiles()).noneMatch(List.of(copies)::contains);
      assertThat(rewriting.write(out(), true, _ -> {}).difference()).isEmpty();
    }
    Path once = Files.createDirectory(folder.resolve("once"));
    for (String name : files(in).keySet()) {
      if (!List.of(copies).contains(name)) {
        Files.copy(in.resolve(name), once.resolve(name));
      }
    }
    write(once, folder.resolve("of-once"), Goal.FOLD, true);
    assertThat(files(out)).isEqualTo(files(folder.resolve("of-once")));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void ofTwoSetsOfTheSameWeightsTheWholeFileIsTaken(boolean index) throws IOException {
    Path in = llama(2);
    Files.copy(llama(1).resolve(WHOLE), in.resolve(WHOLE));
    String[] copies = {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"};
    if (index) {
      assertCopies(in, copies[0], copies[1], INDEX);
    } else {
      Files.delete(in.resolve(INDEX));
      assertCopies(in, copies);
    }
  }

  /** As MLX writes it beside each model. */
  @Test
  void anIndexOfTheWholeFileIsNoOtherSet() throws IOException {
    Path in = llama(1);
    String map =
        String.join(
            ", ",
            tensors(in.resolve(WHOLE)).stream()
                .map(tensor -> "\"%s\": \"%s\"".formatted(tensor.name(), WHOLE))
                .toList());
    Files.writeString(in.resolve(INDEX), "{\"metadata\": {}, \"weight_map\": {" + map + "}}");
    assertCopies(in, INDEX);
  }

  private static List<Tensor> tensors(Path file) throws IOException {
    try (TensorFile tensors = TensorFile.open(file)) {
      return tensors.tensors();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void anotherFileOfTheSameTensorsIsACopy(int shards) throws IOException {
    Path whole = llama(1).resolve(WHOLE);
    Path in = shards == 1 ? whole.getParent() : llama(shards);
    Files.copy(whole, in.resolve("consolidated.safetensors"));
    assertCopies(in, "consolidated.safetensors");
  }

  /** Of another type or other tensors: as they are, and named. */
  @Test
  void filesOfOtherTensorsAreCopied() throws IOException {
    Path in = llama(1);
    TestModel.llama("llama", true).write(folder.resolve("f16"), Dtype.F16, 1);
    Files.copy(folder.resolve("f16").resolve(WHOLE), in.resolve("model.fp16.safetensors"));
    TestModel.llama("llama", false).write(folder.resolve("head"), Dtype.BF16, 1);
    Files.copy(folder.resolve("head").resolve(WHOLE), in.resolve("consolidated.safetensors"));
    assertCopies(in);
    for (String name : List.of("model.fp16.safetensors", "consolidated.safetensors")) {
      assertThat(Files.mismatch(in.resolve(name), out.resolve(name))).isEqualTo(-1);
    }
  }

  /** Otherwise OUT would have folded weights and others that are not. */
  @Test
  void twoSetsOfOtherWeightsAreRefused() throws IOException {
    Path in = llama(2);
    TestModel.llama("llama", true).write(folder.resolve("f32"), Dtype.F32, 1);
    Files.copy(folder.resolve("f32").resolve(WHOLE), in.resolve(WHOLE));
    assertTwoSets(in, INDEX);
    Files.copy(llama(1).resolve(WHOLE), in.resolve(WHOLE), StandardCopyOption.REPLACE_EXISTING);
    Files.delete(in.resolve("model-00001-of-00002.safetensors"));
    assertTwoSets(in, INDEX);
    Files.delete(in.resolve(INDEX));
    assertTwoSets(in, "model-00002-of-00002.safetensors");
    Files.delete(in.resolve("model-00002-of-00002.safetensors"));
    write(in, out(), Goal.FOLD, false);
    assertThat(files(out).keySet()).isEqualTo(files(in).keySet());
  }

  private void assertTwoSets(Path in, String other) {
    assertThatThrownBy(() -> write(in, out(), Goal.FOLD, false))
        .isInstanceOf(RefusedException.class)
        .hasMessage(
            "%s cannot be folded: it has two sets of weights, model.safetensors and %s: keep one of them in the folder"
                .formatted(in, other));
    assertThat(out).doesNotExist();
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
    try (Rewriting rewriting =
        Rewriting.open(in, new Wish(Goal.CONVERT, Optional.of(map), true, true))) {
      assertThat(rewriting.write(out(), true, _ -> {}).difference()).isEmpty();
    }
    assertThat(files(out)).isEqualTo(files(folder.resolve("whole")));
  }

  @Test
  void otherFilesAreCopiedAndFoldersAreNot() throws IOException {
    Path in = llama(2);
    Files.writeString(in.resolve(".gitattributes"), "*.safetensors");
    Files.createDirectory(in.resolve("original"));
    try (Rewriting rewriting =
        Rewriting.open(in, new Wish(Goal.FOLD, Optional.empty(), false, true))) {
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
        .hasMessageStartingWith(partial + ": exists: ");
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
                + ": exists: another command is writing OUT, or was killed; if none is running, delete it");
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
    assertThat(write(in, out(), Goal.FOLD, true).difference()).isEmpty();
    String written = Files.readString(out.resolve("config.json"));
    assertThat(written.split("\"tie_word_embeddings\": ?false", -1)).hasSize(3);
    assertThat(written).doesNotContainPattern("\"tie_word_embeddings\": ?true");
  }

  @Test
  void anEpsilonOfZeroIsNoDifference() throws IOException {
    Path in = llama(1);
    config(in, text -> text.replaceFirst("(\"rms_norm_eps\": ?)[^,}]*", "$10"));
    assertThat(Files.readString(in.resolve("config.json"))).containsPattern("eps\": ?0\\s*[,}]");
    assertThat(write(in, out(), Goal.FOLD, false).difference()).isEmpty();
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
    assertThat(write(in, out(), Goal.FOLD, false).difference()).as("nothing to edit").isEmpty();
  }

  @Test
  void otherFilesAreNamed() throws IOException {
    Path in = llama(1);
    Files.writeString(in.resolve("consolidated.safetensors"), "as it is");
    Files.writeString(in.resolve("pytorch_model.bin"), "as it is");
    Files.writeString(in.resolve("notes.txt"), "as it is");
    try (Rewriting rewriting =
        Rewriting.open(in, new Wish(Goal.FOLD, Optional.empty(), false, true))) {
      assertThat(rewriting.otherFiles())
          .containsExactly(
              "config.json", "consolidated.safetensors", "notes.txt", "pytorch_model.bin");
    }
  }

  /** Gains near 1, as most models have them. */
  private static TestModel near(String type, double stored) {
    TestModel model = TestModel.llama(type, true);
    Random random = new Random(4);
    for (String norm : GAINS) {
      double[] gain = random.doubles(TestModel.WIDTH, stored - 0.3, stored + 0.3).toArray();
      model.put(norm, gain, gain.length);
    }
    return model;
  }

  private static final List<String> GAINS =
      List.of(
          "model.layers.0.input_layernorm.weight",
          "model.layers.0.post_attention_layernorm.weight",
          "model.layers.1.input_layernorm.weight",
          "model.layers.1.post_attention_layernorm.weight",
          "model.norm.weight");

  private void foldUntrusted(Path in, Path to, boolean untie) throws IOException {
    Wish wish = new Wish(Goal.FOLD, Optional.empty(), untie, false);
    try (Rewriting rewriting = Rewriting.open(in, wish)) {
      assertThat(rewriting.write(to, true, _ -> {}).difference()).isEmpty();
    }
  }

  /** Some converters have added the 1 of g - 1 already, others have subtracted one that is not. */
  @ParameterizedTest
  @CsvSource({"gemma, 1, g, Gemma, g - 1", "llama, 0, g - 1, Llama, g"})
  void gainsThatLookOtherwiseAreNotFoldedUnasked(
      String type, double stored, String looks, String family, String stores) throws IOException {
    Path in = near(type, stored).write(folder.resolve("in"), Dtype.F32, 1);
    String refusal =
        "%s looks like %s (as %s such norms do), where %s stores %s; see rmsnorm inspect, and --trust-gains";
    assertThatThrownBy(() -> foldUntrusted(in, out(), true))
        .isInstanceOf(RefusedException.class)
        .hasMessage(
            in
                + " cannot be folded: "
                + refusal.formatted(GAINS.getFirst(), looks, 5, family, stores));
    assertThat(out).doesNotExist();
    assertThat(Prospects.of(in, Optional.empty()).fold().values())
        .filteredOn("only with --trust-gains"::equals)
        .hasSize(4);
    write(in, out, Goal.FOLD, true);
    assertThat(out).isDirectory();
    Path usual = near(type, 1 - stored).write(folder.resolve("usual"), Dtype.F32, 1);
    foldUntrusted(usual, folder.resolve("out2"), true);
    // What is folded already looks as it should.
    foldUntrusted(folder.resolve("out2"), folder.resolve("out3"), true);
  }

  /** Half of the norms at one place, if they are folded; the last one before a tied head is not. */
  @Test
  void theGainsOfOneNormThatLookOtherwise() throws IOException {
    Path last = withShifted("last", GAINS.getLast());
    foldUntrusted(last, out(), false);
    assertThatThrownBy(() -> foldUntrusted(last, folder.resolve("b"), true))
        .hasMessageContaining("model.norm.weight looks like g - 1, where Llama stores g;");
    Path other = withShifted("other", GAINS.get(2));
    assertThatThrownBy(() -> foldUntrusted(other, folder.resolve("d"), false))
        .hasMessageContaining("model.layers.1.input_layernorm.weight looks like");
  }

  private Path withShifted(String name, String gain) throws IOException {
    double[] shifted = near("llama", 0).values(gain);
    return near("llama", 1)
        .put(gain, shifted, shifted.length)
        .write(folder.resolve(name), Dtype.F32, 1);
  }
}
