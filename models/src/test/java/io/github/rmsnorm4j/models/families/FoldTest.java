package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.models.rewrite.Goal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Folded models of every family have the logits of the models that they are made from. */
class FoldTest extends WithRewriter {
  private static final double BFLOAT16_ROUNDING = 0x1p-8;

  static Stream<String> layouts() {
    return Layouts.ALL.keySet().stream().filter(name -> !name.equals("opt-350m"));
  }

  private static TinyModel model(String name, StoredType type) {
    return Layouts.ALL.get(name).model(type, 100 + name.hashCode() % 100);
  }

  /**
   * The gains that are folded, by pattern: those before a projection, unless that is the tied head,
   * or has no bias for the norm's bias. Written down here, family by family, apart from the rules.
   */
  private static String folded(String name, boolean untie) {
    boolean tied = Layouts.ALL.get(name).config().get("tie_word_embeddings").equals(true);
    String last = tied && !untie ? "" : "|model.norm";
    return switch (name.split("-")[0]) {
      case "olmo2" -> "model.norm";
      case "gemma2", "gemma3" -> ".*[0-9].(input|pre_feedforward)_layernorm" + last;
      case "gpt2" -> ".*ln_[12]";
      case "gpt_neox" ->
          name.equals("gpt_neox-no-bias")
              ? ".*[0-9].post_attention_layernorm"
              : ".*[0-9].(input|post_attention)_layernorm";
      case "opt" -> ".*[0-9].(self_attn|final)_layer_norm";
      case "t5" ->
          ".*[0-9].layer_norm|encoder.final_layer_norm"
              + (tied && !untie ? "" : "|decoder.final_layer_norm");
      default -> ".*[0-9].(input|post_attention)_layernorm" + last;
    };
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void theLogitsAreTheSame(String name) throws IOException {
    TinyModel model = model(name, StoredType.F64);
    TinyModel folded = rewriter.fold(model);
    assertThat(Logits.distance(model, folded)).isLessThan(1e-12);
    assertThat(folded.config()).isEqualTo(model.config());
    assertThat(folded.tensors().keySet()).containsExactlyElementsOf(model.tensors().keySet());
    assertFolded(model, folded, folded(name, false));
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void theLogitsAreTheSameWithTheHeadUntied(String name) throws IOException {
    TinyModel model = model(name, StoredType.F64);
    TinyModel folded = rewriter.foldUntied(model);
    assertThat(Logits.distance(model, folded)).isLessThan(1e-12);
    assertFolded(model, folded, folded(name, true));
    String head = name.startsWith("gpt_neox") ? "embed_out.weight" : "lm_head.weight";
    assertThat(folded.flag("tie_word_embeddings")).isEqualTo(!folded.has(head));
  }

  /**
   * The folded gains are 1, stored as g or g - 1, and the biases 0; all others are as they were.
   */
  private static void assertFolded(TinyModel model, TinyModel folded, String names) {
    double one = model.type().startsWith("gemma") ? 0 : 1;
    model
        .tensors()
        .forEach(
            (tensor, values) -> {
              if (!tensor.matches(".*(norm|ln_.)\\.(weight|bias)")) {
                return;
              }
              double[] elements = folded.get(tensor).elements();
              double plain = tensor.endsWith(".weight") ? one : 0;
              if (tensor.replaceAll("\\.(weight|bias)$", "").matches(names)) {
                assertThat(elements).as(tensor).containsOnly(plain);
              } else {
                assertThat(elements).as(tensor).isEqualTo(values.elements());
              }
            });
  }

  /**
   * In a narrow type the result is that of float64 with one rounding. Products of two numbers of 16
   * bits are exact in float64, so even the bytes must be the same.
   */
  @ParameterizedTest
  @MethodSource("layouts")
  void numbersAreRoundedOnce(String name) throws IOException {
    TinyModel model = model(name, StoredType.BF16);
    TinyModel narrow = rewriter.foldUntied(model);
    TinyModel wide = rewriter.foldUntied(model.withFloats(StoredType.F64));
    assertRounded(narrow, wide);
    assertDifferAsByRounding(model, narrow, wide);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gemma2", "gpt2", "t5"})
  void numbersOfOtherTypesAreRoundedOnce(String name) throws IOException {
    for (StoredType type : List.of(StoredType.F16, StoredType.F32)) {
      TinyModel model = model(name, type);
      TinyModel wide = rewriter.foldUntied(model.withFloats(StoredType.F64));
      assertRounded(rewriter.foldUntied(model), wide);
    }
  }

  private static void assertRounded(TinyModel narrow, TinyModel wide) {
    wide.tensors()
        .forEach(
            (tensor, values) -> {
              StoredType type = narrow.get(tensor).type();
              double[] rounded = Arrays.stream(values.elements()).map(type::round).toArray();
              assertThat(narrow.get(tensor).elements()).as(tensor).isEqualTo(rounded);
            });
  }

  /**
   * A number that is rounded to bfloat16 has an error of at most half a unit in the last place, a
   * share of 2^-8. Random errors of up to this size in the same numbers change the logits by as
   * much as a rounding does. So the difference must not be above twice what such errors do.
   */
  private static void assertDifferAsByRounding(TinyModel model, TinyModel narrow, TinyModel wide) {
    assertThat(Logits.distance(model, wide)).isLessThan(1e-12);
    double largest = 0;
    Random random = new Random(5);
    for (int i = 0; i < 5; i++) {
      TinyModel noisy = wide;
      for (Map.Entry<String, Values> tensor : wide.tensors().entrySet()) {
        double[] elements = tensor.getValue().elements();
        if (!Arrays.equals(elements, model.elementsOrNull(tensor.getKey()))) {
          double[] changed =
              Arrays.stream(elements)
                  .map(v -> v * (1 + BFLOAT16_ROUNDING * (2 * random.nextDouble() - 1)))
                  .toArray();
          noisy = noisy.with(tensor.getKey(), tensor.getValue().with(changed));
        }
      }
      largest = Math.max(largest, Logits.distance(wide, noisy));
    }
    assertThat(largest).isBetween(1e-5, 0.1);
    assertThat(Logits.distance(model, narrow)).isBetween(1e-6, 2 * largest);
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void aSecondFoldChangesNothing(String name) throws IOException {
    Path in = rewriter.write(model(name, StoredType.F16), 1);
    Path once = rewriter.rewrite(in, Goal.FOLD, true);
    assertThat(bytes(once)).isNotEqualTo(bytes(in));
    assertThat(bytes(rewriter.rewrite(once, Goal.FOLD, true))).isEqualTo(bytes(once));
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama", "qwen2-tied", "gemma3", "gpt2", "gpt_neox", "t5-gated-tied"})
  void shardsGiveTheSameTensorsAndTheModelIsNotTouched(String name) throws IOException {
    TinyModel model = model(name, StoredType.F32);
    Path whole = rewriter.write(model, 1);
    Path shards = rewriter.write(model, 3);
    Map<String, String> before = bytes(shards);
    for (boolean untie : new boolean[] {false, true}) {
      TinyModel one = HuggingFaceFolder.read(rewriter.rewrite(whole, Goal.FOLD, untie));
      Path out = rewriter.rewrite(shards, Goal.FOLD, untie);
      TinyModel three = HuggingFaceFolder.read(out);
      assertThat(three.config()).isEqualTo(one.config());
      assertThat(new TreeSet<>(three.tensors().keySet()))
          .isEqualTo(new TreeSet<>(one.tensors().keySet()));
      one.tensors()
          .forEach(
              (tensor, values) ->
                  assertThat(three.get(tensor).elements()).as(tensor).isEqualTo(values.elements()));
      assertThat(bytes(out)).hasSameSizeAs(before);
    }
    assertThat(bytes(shards)).isEqualTo(before);
  }

  /** The bytes of each file of a folder, as text. */
  private static Map<String, String> bytes(Path folder) throws IOException {
    Map<String, String> all = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        all.put(file.getFileName().toString(), new String(Files.readAllBytes(file), "ISO-8859-1"));
      }
    }
    return all;
  }
}
