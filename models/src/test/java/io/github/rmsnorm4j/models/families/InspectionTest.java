package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.testing.GgufBytes;
import io.github.rmsnorm4j.models.GainStatistics;
import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.StoredModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The norms of small models of every family are found, and their gains are measured. */
class InspectionTest {
  @TempDir private Path folder;

  static Stream<String> layouts() {
    return Layouts.ALL.keySet().stream();
  }

  private static Inspection inspect(Path model) throws IOException {
    try (StoredModel stored = StoredModel.open(model)) {
      return Inspection.of(stored, Optional.empty());
    }
  }

  private Inspection inspect(TinyModel model) throws IOException {
    return inspect(HuggingFaceFolder.write(model, folder, 1));
  }

  /** Every tensor of one axis that is no bias is a gain, so none may be missed. */
  @ParameterizedTest
  @MethodSource("layouts")
  void everyGainIsFoundAndMeasured(String name) throws IOException {
    TinyModel model = Layouts.ALL.get(name).model(StoredType.BF16, 5);
    Inspection inspection = inspect(model);
    assertThat(inspection.norms().stream().map(norm -> norm.site().gain().orElseThrow()))
        .containsExactlyInAnyOrderElementsOf(gains(model));
    for (InspectedNorm norm : inspection.norms()) {
      check(norm, model);
    }
  }

  private static List<String> gains(TinyModel model) {
    return model.tensors().keySet().stream()
        .filter(tensor -> tensor.endsWith(".weight") && model.get(tensor).shape().size() == 1)
        .toList();
  }

  private static void check(InspectedNorm norm, TinyModel model) {
    boolean zeroCentred = model.type().startsWith("gemma");
    boolean layer = Set.of("gpt2", "gpt_neox", "opt").contains(model.type());
    NormSite site = norm.site();
    assertThat(site.spec().gainOffset()).isEqualTo(zeroCentred ? 1 : 0);
    assertThat(site.spec().kind() == NormSpec.Kind.LAYER_NORM).isEqualTo(layer);
    assertThat(site.bias().isPresent()).isEqualTo(layer);
    assertThat(site.spec().epsilon()).hasValue(model.type().equals("opt") ? 1e-5 : 1e-3);
    assertThat(norm.type()).contains("bf16");
    double[] stored = model.get(site.gain().orElseThrow()).elements();
    double[] gain = Arrays.stream(stored).map(g -> zeroCentred ? g + 1 : g).sorted().toArray();
    GainStatistics found = norm.gain().orElseThrow();
    assertThat(site.width()).isEqualTo(gain.length);
    assertThat(found.least()).isEqualTo(gain[0]);
    assertThat(found.greatest()).isEqualTo(gain[gain.length - 1]);
    assertThat(found.mean()).isCloseTo(Arrays.stream(gain).average().orElseThrow(), within(1e-12));
    assertThat(found.negative()).isEqualTo((int) Arrays.stream(gain).filter(g -> g < 0).count());
  }

  /** Rules tell of every tensor; those of OPT-350m's projections of embeddings are not known. */
  @ParameterizedTest
  @MethodSource("layouts")
  void everyTensorIsKnown(String name) throws IOException {
    Inspection inspection = inspect(Layouts.ALL.get(name).model(StoredType.F32, 6));
    boolean projected = name.equals("opt-350m");
    assertThat(inspection.model().unknown())
        .allMatch(tensor -> projected && tensor.contains("project_"));
    assertThat(inspection.model().unknown().isEmpty()).isEqualTo(!projected);
  }

  @ParameterizedTest
  @CsvSource({"llama", "gemma3", "gpt2", "t5-gated"})
  void shardsChangeNothing(String name) throws IOException {
    TinyModel model = Layouts.ALL.get(name).model(StoredType.F16, 7);
    Inspection whole = inspect(HuggingFaceFolder.write(model, folder.resolve("whole"), 1));
    Inspection shards = inspect(HuggingFaceFolder.write(model, folder.resolve("shards"), 3));
    assertThat(shards).isEqualTo(whole);
  }

  private static double epsilon(InspectedNorm norm) {
    return norm.site().spec().epsilon().orElseThrow();
  }

  /** A converter to GGUF adds the 1 of Gemma's gains; otherwise the figures are the same. */
  @ParameterizedTest
  @CsvSource({"llama, llama", "qwen3, qwen3", "gemma2, gemma2"})
  void aGgufFileHasTheSameNorms(String name, String architecture) throws IOException {
    TinyModel model = Layouts.ALL.get(name).model(StoredType.F32, 8);
    Inspection expected = inspect(model);
    Path file = folder.resolve("model.gguf");
    Files.write(file, gguf(model, architecture));
    Inspection found = inspect(file);
    assertThat(found.model().unknown()).isEmpty();
    assertThat(found.model().notConverted()).isEqualTo(expected.model().notConverted());
    assertThat(found.norms()).hasSameSizeAs(expected.norms());
    for (int i = 0; i < found.norms().size(); i++) {
      InspectedNorm norm = found.norms().get(i);
      InspectedNorm other = expected.norms().get(i);
      assertThat(norm.site().spec().gainOffset()).isZero();
      assertThat(epsilon(norm)).isCloseTo(epsilon(other), within(1e-10));
      assertThat(norm.site().layer()).isEqualTo(other.site().layer());
      assertThat(norm.site().spec().castOrder()).isEqualTo(other.site().spec().castOrder());
      assertThat(norm.site().consumers()).hasSameSizeAs(other.site().consumers());
      assertThat(norm.site().keptBecause()).isEqualTo(other.site().keptBecause());
      GainStatistics gain = norm.gain().orElseThrow();
      assertThat(gain.least()).isCloseTo(other.gain().orElseThrow().least(), within(1e-6));
      assertThat(gain.mean()).isCloseTo(other.gain().orElseThrow().mean(), within(1e-6));
    }
  }

  @Test
  void aWrongSettingOfAGgufFileGivesOneLine() throws IOException {
    String key = "llama.block_count";
    refused(llama(), "lacks llama.block_count");
    refused(llama().text(key, "1"), "llama.block_count is '1', it must be a number");
    refused(llama().bool(key, true), "llama.block_count is true, it must be a number");
    refused(llama().float32(key, 1.5f), "llama.block_count is 1.5, it must be a whole number from");
    refused(llama().uint32(key, -1), "llama.block_count is 4294967295, it must be a whole number");
    refused(llama().texts(key, "a", "b"), "lacks llama.block_count");
    refused(
        llama().uint32(key, 0).text("llama.attention.layer_norm_rms_epsilon", "tiny"),
        "llama.attention.layer_norm_rms_epsilon is 'tiny', it must be a number");
  }

  /** A model of a norm and an embedding. */
  private static GgufBytes llama() {
    return new GgufBytes()
        .text("general.architecture", "llama")
        .uint32("llama.embedding_length", 4)
        .tensor("token_embd.weight", GgufBytes.F32, new byte[32], 2, 4)
        .tensor("output_norm.weight", GgufBytes.F32, GgufBytes.floats(1, 2, 3, 4), 4);
  }

  private void refused(GgufBytes content, String problem) throws IOException {
    Path file = folder.resolve("wrong.gguf");
    Files.write(file, content.toBytes());
    assertThatThrownBy(() -> inspect(file))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("wrong.gguf: " + problem)
        .message()
        .hasLineCount(1);
  }

  /** Hugging Face's names, and those that GGUF has for them; all that differ. */
  private static final Map<String, String> NAMES =
      Map.ofEntries(
          Map.entry("model.embed_tokens", "token_embd"),
          Map.entry("lm_head", "output"),
          Map.entry("model.norm", "output_norm"),
          Map.entry("model.layers", "blk"),
          Map.entry("self_attn.q_norm", "attn_q_norm"),
          Map.entry("self_attn.k_norm", "attn_k_norm"),
          Map.entry("self_attn.q_proj", "attn_q"),
          Map.entry("self_attn.k_proj", "attn_k"),
          Map.entry("self_attn.v_proj", "attn_v"),
          Map.entry("self_attn.o_proj", "attn_output"),
          Map.entry("mlp.gate_proj", "ffn_gate"),
          Map.entry("mlp.up_proj", "ffn_up"),
          Map.entry("mlp.down_proj", "ffn_down"),
          Map.entry("input_layernorm", "attn_norm"),
          Map.entry("pre_feedforward_layernorm", "ffn_norm"),
          Map.entry("post_feedforward_layernorm", "post_ffw_norm"));

  private static byte[] gguf(TinyModel model, String architecture) {
    boolean gemma = architecture.startsWith("gemma");
    GgufBytes file =
        new GgufBytes()
            .text("general.architecture", architecture)
            .uint32(architecture + ".block_count", model.count("num_hidden_layers"))
            .uint32(architecture + ".embedding_length", model.count("hidden_size"))
            .float32(
                architecture + ".attention.layer_norm_rms_epsilon",
                (float) model.number("rms_norm_eps"));
    model
        .tensors()
        .forEach(
            (name, values) -> {
              boolean norm = values.shape().size() == 1;
              float[] elements = new float[values.elements().length];
              for (int i = 0; i < elements.length; i++) {
                elements[i] = (float) values.elements()[i] + (gemma && norm ? 1 : 0);
              }
              long[] shape = values.shape().stream().mapToLong(Integer::longValue).toArray();
              String renamed = renamed(name, gemma);
              file.tensor(renamed, GgufBytes.F32, GgufBytes.floats(elements), shape);
            });
    return file.toBytes();
  }

  private static String renamed(String name, boolean gemma) {
    String renamed = name;
    for (Map.Entry<String, String> entry : NAMES.entrySet()) {
      if (!entry.getKey().equals("input_layernorm") || !name.contains("post_")) {
        renamed = renamed.replace(entry.getKey() + ".", entry.getValue() + ".");
      }
    }
    String behind = gemma ? "post_attention_norm." : "ffn_norm.";
    return renamed.replace("post_attention_layernorm.", behind);
  }

  /** The 1 that the norm of Gemma adds was added already, and one that Llama's lacks. */
  @Test
  void numbersThatContradictTheArchitectureAreDoubtful() throws IOException {
    TinyModel gemma = Layouts.ALL.get("gemma").model(StoredType.F32, 9);
    TinyModel llama = Layouts.ALL.get("llama").model(StoredType.F32, 9);
    for (String gain : gains(gemma)) {
      gemma = gemma.with(gain, gainOf(gemma.get(gain), 1));
    }
    for (String gain : gains(llama)) {
      llama = llama.with(gain, gainOf(llama.get(gain), 0));
    }
    assertThat(inspect(gemma).norms()).hasSize(7).allMatch(InspectedNorm::isDoubtful);
    assertThat(inspect(llama).norms()).hasSize(7).allMatch(InspectedNorm::isDoubtful);
    TinyModel usual = Layouts.ALL.get("llama").model(StoredType.F32, 9);
    for (String gain : gains(usual)) {
      usual = usual.with(gain, gainOf(usual.get(gain), 1));
    }
    assertThat(inspect(usual).norms()).noneMatch(InspectedNorm::isDoubtful);
  }

  /** Numbers around a mean. */
  private static Values gainOf(Values like, double mean) {
    double[] elements = new double[like.elements().length];
    Arrays.setAll(elements, i -> (float) (mean + 0.02 * (i % 5 - 2)));
    return new Values(like.type(), like.shape(), elements);
  }

  @Test
  void deadNegativeAndNonFiniteGainsAreCounted() throws IOException {
    TinyModel model = Layouts.ALL.get("llama").model(StoredType.F32, 10);
    Values gain = model.get("model.norm.weight");
    double[] elements = gainOf(gain, 1).elements();
    elements[0] = 0;
    elements[1] = -0.0;
    elements[2] = -2;
    elements[3] = Double.NaN;
    elements[4] = Double.POSITIVE_INFINITY;
    Inspection inspection =
        inspect(model.with("model.norm.weight", new Values(gain.type(), gain.shape(), elements)));
    GainStatistics found = inspection.norms().getLast().gain().orElseThrow();
    assertThat(found.dead()).isEqualTo(2);
    assertThat(found.negative()).isEqualTo(1);
    assertThat(found.nonFinite()).isEqualTo(2);
    assertThat(found.least()).isEqualTo(-2);
    assertThat(found.greatest()).isLessThan(2);
  }

  @Test
  void aModelThatIsNotAsItsRulesSayGivesOneLine() throws IOException {
    TinyModel model = Layouts.ALL.get("llama").model(StoredType.F32, 11);
    refused(model.without("model.layers.1.input_layernorm.weight"), "lacks model.layers.1.input");
    refused(model.without("model.embed_tokens.weight"), "lacks model.embed_tokens.weight");
    refused(model.with("num_hidden_layers", 4), "lacks model.layers.3.input_layernorm.weight");
    refused(
        model.with("num_hidden_layers", 1e9),
        "num_hidden_layers is 1.0E9, it must be a whole number from 0 to 10000");
    refused(
        model.with("num_hidden_layers", "three"),
        "num_hidden_layers is 'three', it must be a number");
    refused(
        model.with("rms_norm_eps", -1.0),
        "rms_norm_eps is -1.0, it must be finite and not negative");
    refused(
        model.with("tie_word_embeddings", 1), "tie_word_embeddings is 1, it must be true or false");
    Values square = model.get("model.layers.0.self_attn.q_proj.weight");
    refused(model.with("model.norm.weight", square), "a gain has one axis");
    Values scalar = new Values(StoredType.F32, List.of(), new double[1]);
    refused(model.with("model.norm.weight", scalar), "a gain has one axis");
    refused(
        model.with(
            "model.layers.0.mlp.up_proj.weight", model.get("model.layers.0.mlp.down_proj.weight")),
        "tensor 'model.layers.0.mlp.up_proj.weight' is f32 [24, 20], its norm has 24 elements");
  }

  private void refused(TinyModel model, String problem) {
    assertThatThrownBy(() -> inspect(model))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(problem)
        .message()
        .hasLineCount(1);
  }

  /** Wider than the number of layers may be large; a tied T5's logits are scaled by the width. */
  @Test
  void modelsMayBeWide() throws IOException {
    TinyModel model = Layouts.ALL.get("t5").model(StoredType.F32, 11);
    double scale = Math.pow(12_288, -0.5);
    assertThat(inspect(model.with("d_model", 12_288)).model().headScale()).isEqualTo(scale);
    refused(model.with("d_model", 1 << 25), "it must be a whole number from 0 to 16777216");
  }

  /** A matrix that is missing, or is not of floating numbers, keeps its norm from being folded. */
  @Test
  void consumersThatCannotTakeAGainAreNamed() throws IOException {
    TinyModel model = Layouts.ALL.get("llama").model(StoredType.F32, 12);
    String gate = "model.layers.2.mlp.gate_proj.weight";
    Values quantised =
        new Values(StoredType.U8, model.get(gate).shape(), model.get(gate).elements());
    for (TinyModel changed : List.of(model.without(gate), model.with(gate, quantised))) {
      List<InspectedNorm> norms = inspect(changed).norms();
      assertThat(norms.get(5).site().keptBecause().orElseThrow()).contains(gate);
      assertThat(norms.get(4).site().keptBecause()).isEmpty();
    }
  }
}
