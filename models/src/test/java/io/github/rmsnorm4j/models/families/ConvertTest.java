package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.models.rewrite.Goal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models with LayerNorm, converted, have the same logits by RMSNorm. */
class ConvertTest extends WithRewriter {
  static Stream<String> layouts() {
    return Layouts.ALL.keySet().stream().filter(name -> name.matches("gpt.*|opt(-untied)?"));
  }

  private static TinyModel model(String name, StoredType type) {
    return Layouts.ALL.get(name).model(type, 7);
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void theLogitsAreTheSame(String name) throws IOException {
    TinyModel model = model(name, StoredType.F64);
    TinyModel converted = rewriter.convert(model);
    assertThat(converted.type()).isEqualTo("rmsnorm4j-" + model.type());
    assertThat(Logits.distance(model, converted)).isLessThan(1e-12);
  }

  /** The transformer module loads the result, as convert says, and computes the same in float32. */
  @ParameterizedTest
  @ValueSource(strings = {"gpt2", "gpt2-untied", "gpt_neox", "gpt_neox-sequential"})
  void theTransformerModuleRunsIt(String name) throws IOException {
    TinyModel model = model(name, StoredType.F32);
    Path converted = rewriter.rewrite(rewriter.write(model, 1), Goal.CONVERT, true);
    assertThat(Logits.distance(Logits.of(model), Logits.ofTransformer(converted))).isLessThan(1e-5);
  }

  /** The architecture's names change and the head is not tied; all other settings are kept. */
  @ParameterizedTest
  @MethodSource("layouts")
  void theSettingsAreKept(String name) throws IOException {
    TinyModel model = model(name, StoredType.F32);
    Map<String, Object> config = new LinkedHashMap<>(rewriter.convert(model).config());
    assertThat(config.keySet()).containsExactlyElementsOf(model.config().keySet());
    config.put("model_type", model.type());
    config.put("tie_word_embeddings", model.config().get("tie_word_embeddings"));
    config.put("architectures", model.config().get("architectures"));
    assertThat(config).isEqualTo(model.config());
  }

  /** Rows of embeddings, columns of the matrices that write to the stream, and their biases. */
  @ParameterizedTest
  @MethodSource("layouts")
  void whatIsAddedToTheStreamHasNoMean(String name) throws IOException {
    TinyModel converted = rewriter.convert(model(name, StoredType.F64));
    int found = 0;
    for (Map.Entry<String, Values> tensor : converted.tensors().entrySet()) {
      Values values = tensor.getValue();
      boolean rows =
          tensor.getKey().matches(".*(wte|wpe|embed_in|embed_(tokens|positions)).weight");
      boolean writer =
          tensor.getKey().matches(".*(c_proj|attention.dense|4h_to_h|out_proj|fc2).(weight|bias)");
      if (rows || writer) {
        found++;
        boolean inputsFirst = rows || values.shape().size() == 1 || family(name).equals("gpt2");
        for (double mean : inputsFirst ? rowMeans(values) : columnMeans(values)) {
          assertThat(mean).as(tensor.getKey()).isEqualTo(0, within(1e-15));
        }
      }
    }
    int biases = name.equals("gpt_neox-no-bias") ? 1 : 2;
    assertThat(found).isEqualTo(3 * (2 + biases) + (name.startsWith("gpt_neox") ? 1 : 2));
  }

  private static String family(String name) {
    return name.split("-")[0];
  }

  private static double[] rowMeans(Values values) {
    int width = values.shape().getLast();
    double[] means = new double[values.elements().length / width];
    for (int i = 0; i < values.elements().length; i++) {
      means[i / width] += values.elements()[i] / width;
    }
    return means;
  }

  private static double[] columnMeans(Values values) {
    double[] means = new double[values.columns()];
    for (int i = 0; i < values.elements().length; i++) {
      means[i % means.length] += values.elements()[i] / values.rows();
    }
    return means;
  }

  /** What has no part in it is there as it was: masks, and the head's matrix. */
  @ParameterizedTest
  @MethodSource("layouts")
  void buffersAndTheHeadAreKept(String name) throws IOException {
    TinyModel model = model(name, StoredType.BF16);
    TinyModel converted = rewriter.convert(model);
    String head = family(name).equals("gpt_neox") ? "embed_out.weight" : "lm_head.weight";
    String embedding =
        switch (name) {
          case "gpt2" -> "wte.weight";
          case "gpt2-prefixed" -> "transformer.wte.weight";
          default -> "model.decoder.embed_tokens.weight";
        };
    assertThat(converted.get(head).elements())
        .isEqualTo(model.get(model.has(head) ? head : embedding).elements());
    for (Map.Entry<String, Values> tensor : model.tensors().entrySet()) {
      if (tensor.getKey().matches(".*\\.(attn|attention)\\.(masked_)?bias|.*inv_freq")) {
        Values values = converted.get(tensor.getKey());
        assertThat(values.type()).isEqualTo(tensor.getValue().type());
        assertThat(values.elements()).isEqualTo(tensor.getValue().elements());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void numbersAreRoundedOnce(String name) throws IOException {
    for (StoredType type : List.of(StoredType.BF16, StoredType.F32)) {
      TinyModel model = model(name, type);
      TinyModel narrow = rewriter.convert(model);
      TinyModel wide = rewriter.convert(model.withFloats(StoredType.F64));
      wide.tensors()
          .forEach(
              (tensor, values) -> {
                StoredType stored = narrow.get(tensor).type();
                double[] rounded = Arrays.stream(values.elements()).map(stored::round).toArray();
                assertThat(narrow.get(tensor).elements()).as(tensor).isEqualTo(rounded);
              });
    }
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void shardsGiveTheSameTensors(String name) throws IOException {
    TinyModel model = model(name, StoredType.F32);
    TinyModel one = rewriter.convert(model);
    Path shards = rewriter.write(model, 4);
    TinyModel four = HuggingFaceFolder.read(rewriter.rewrite(shards, Goal.CONVERT, true));
    assertThat(four.tensors().keySet()).containsExactlyInAnyOrderElementsOf(one.tensors().keySet());
    one.tensors()
        .forEach(
            (tensor, values) ->
                assertThat(four.get(tensor).elements()).as(tensor).isEqualTo(values.elements()));
  }
}
