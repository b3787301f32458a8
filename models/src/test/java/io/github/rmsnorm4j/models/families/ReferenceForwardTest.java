package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The references are right: by other code that computes the same models, and by themselves. */
class ReferenceForwardTest {
  private static final int[] IDS = Logits.IDS;

  @TempDir private Path folder;

  static Stream<String> layouts() {
    return Layouts.ALL.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void aModelComesBackAsItWasWritten(String name) throws Exception {
    for (StoredType type : new StoredType[] {StoredType.F64, StoredType.F16, StoredType.BF16}) {
      TinyModel model = Layouts.ALL.get(name).model(type, 1);
      for (int shards : new int[] {1, 3}) {
        Path path = folder.resolve(type + "-" + shards);
        TinyModel back = HuggingFaceFolder.read(HuggingFaceFolder.write(model, path, shards));
        assertThat(HuggingFaceFolder.json(back.config()))
            .isEqualTo(HuggingFaceFolder.json(model.config()));
        assertThat(back.tensors().keySet())
            .containsExactlyInAnyOrderElementsOf(model.tensors().keySet());
        model
            .tensors()
            .forEach(
                (tensor, values) -> {
                  assertThat(back.get(tensor).type()).isEqualTo(values.type());
                  assertThat(back.get(tensor).shape()).isEqualTo(values.shape());
                  assertThat(back.get(tensor).elements()).isEqualTo(values.elements());
                });
      }
    }
  }

  /** A model that is not sensitive to its tensors would prove nothing. */
  @ParameterizedTest
  @MethodSource("layouts")
  void everyTensorMatters(String name) {
    if (name.equals("opt-350m")) {
      return; // has no reference: it is refused
    }
    TinyModel model = Layouts.ALL.get(name).model(StoredType.F64, 2);
    double[][] logits = ReferenceForward.anyLogits(model, IDS);
    Random random = new Random(2);
    for (Map.Entry<String, Values> tensor : model.tensors().entrySet()) {
      double[] changed = tensor.getValue().elements().clone();
      for (int i = 0; i < changed.length; i++) {
        changed[i] += 1e-3 * random.nextGaussian();
      }
      TinyModel other = model.with(tensor.getKey(), tensor.getValue().with(changed));
      // Buffers; and OPT's bias of keys, which adds the same to all scores of a query.
      boolean silent =
          tensor
              .getKey()
              .matches(".*\\.(attn|attention)\\.(masked_)?bias|.*inv_freq|.*decoder.*k_proj.bias");
      assertThat(Logits.distance(logits, ReferenceForward.anyLogits(other, IDS)) > 1e-8)
          .as(tensor.getKey())
          .isEqualTo(!silent);
    }
  }

  /** Numbers that the library transformers computed once; the file says how. */
  @Test
  void transformersAgrees() throws IOException {
    int compared = 0;
    for (String line : resource("transformers-logits.txt").split("\n")) {
      if (line.startsWith("#")) {
        continue;
      }
      String[] words = line.split(" ");
      TinyModel model = Layouts.ALL.get(words[0]).model(StoredType.F64, 42);
      double[] logits = Logits.of(model)[IDS.length - 1];
      double largest = Arrays.stream(logits).map(Math::abs).max().orElseThrow();
      for (int i = 1; i < words.length; i++) {
        assertThat(logits[i - 1])
            .as(line)
            .isEqualTo(Double.parseDouble(words[i]), within(2e-6 * largest));
        compared++;
      }
    }
    assertThat(compared).isEqualTo(6 * (Layouts.ALL.size() - 1)); // all except opt-350m
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = ReferenceForwardTest.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Float32 rounds to 6e-8, and the sums here have up to 40 terms and three layers. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "llama",
        "llama-tied",
        "mistral",
        "qwen2",
        "qwen2-tied",
        "qwen3",
        "gpt2",
        "gpt2-prefixed",
        "gpt2-untied",
        "gpt_neox",
        "gpt_neox-sequential"
      })
  void theTransformerModuleAgrees(String name) throws Exception {
    TinyModel model = Layouts.ALL.get(name).model(StoredType.F32, 3);
    double[][] logits = ReferenceForward.logits(model, IDS);
    Path stored = HuggingFaceFolder.write(model, folder, 1);
    assertThat(Logits.distance(logits, Logits.ofTransformer(stored))).isLessThan(1e-5);
  }

  @Test
  void bucketsOfDistances() {
    // 32 buckets up to 128, as T5 has them.
    assertThat(T5Forward.bucket(0, true, 32, 128)).isZero();
    assertThat(T5Forward.bucket(-7, true, 32, 128)).isEqualTo(7);
    assertThat(T5Forward.bucket(7, true, 32, 128)).isEqualTo(23);
    assertThat(T5Forward.bucket(-1000, true, 32, 128)).isEqualTo(15);
    assertThat(T5Forward.bucket(5, false, 32, 128)).isZero();
    assertThat(T5Forward.bucket(-15, false, 32, 128)).isEqualTo(15);
    assertThat(T5Forward.bucket(-127, false, 32, 128)).isEqualTo(31);
    // 16 + floor(16 * log(20 / 16) / log(128 / 16)) is 17.
    assertThat(T5Forward.bucket(-20, false, 32, 128)).isEqualTo(17);
  }

  @Test
  void activations() {
    assertThat(Rows.erf(0.5)).isEqualTo(0.5204998778130465, within(1e-15));
    assertThat(Rows.erf(-2.5)).isEqualTo(-0.9995930479825550, within(1e-15));
    assertThat(Rows.gelu(new double[][] {{1}})[0][0]).isEqualTo(0.8413447460685429, within(1e-15));
    assertThat(Rows.geluTanh(new double[][] {{1}})[0][0])
        .isEqualTo(0.8411919906082768, within(1e-15));
  }
}
