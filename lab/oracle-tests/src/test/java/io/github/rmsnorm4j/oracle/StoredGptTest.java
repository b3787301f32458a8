package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.transformer.Arithmetic;
import io.github.rmsnorm4j.models.transformer.LayerwiseLogits;
import io.github.rmsnorm4j.models.transformer.MatrixChange;
import io.github.rmsnorm4j.models.transformer.MatrixProduct;
import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.ModelFolder;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.bytedeco.javacpp.PointerScope;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Stored GPT-2s and GPT-NeoXs, and their forms with RMSNorm, against libtorch in float64. */
class StoredGptTest {
  /** Plain products, and the fastest kernels of norms. */
  private static final Arithmetic ARITHMETIC =
      new Arithmetic(MatrixProduct.PLAIN_JAVA, null, ElementType.FLOAT32);

  private static final long SEED = 20_261_122;
  private static final int TOKENS = 12;

  /**
   * Of the largest logit. A float32 operation has an error of at most 6e-8 of its result. Between a
   * token and a logit lie 2 blocks of about 8 operations that each depend on all before it, and the
   * largest sums have 40 terms, whose errors add up to about the root of 40 of them: 16 * 6.3 *
   * 6e-8 = 6e-6. The measured error is in the test's output.
   */
  private static final double BOUND = 6e-6;

  @TempDir private Path folder;

  @BeforeAll
  static void libtorch() {
    Libtorch.require();
  }

  static List<GptInTorch.Form> forms() {
    List<GptInTorch.Form> forms = new ArrayList<>();
    for (boolean rms : new boolean[] {false, true}) {
      for (boolean tanh : new boolean[] {false, true}) {
        forms.add(new GptInTorch.Form(false, rms, tanh, false, 0, true));
        forms.add(new GptInTorch.Form(true, rms, tanh, true, 0.25, false));
        for (boolean parallel : new boolean[] {false, true}) {
          for (double rotary : new double[] {0.25, 1}) {
            forms.add(new GptInTorch.Form(true, rms, tanh, parallel, rotary, true));
          }
        }
      }
    }
    return forms;
  }

  @ParameterizedTest
  @MethodSource("forms")
  void logits(GptInTorch.Form form) throws IOException {
    int[] tokens = new Random(SEED).ints(TOKENS, 0, GptInTorch.VOCABULARY).toArray();
    try (PointerScope _ = new PointerScope()) {
      GptInTorch torch = new GptInTorch(form, SEED);
      write(torch);
      double[] expected = Libtorch.values(torch.logits(tokens));
      double error = error(wholeModel(tokens), expected);
      System.out.printf("%.2e of the largest logit: %s%n", error, form);
      assertThat(error).isLessThan(BOUND);
      try (LayerwiseLogits model = LayerwiseLogits.open(folder)) {
        assertThat(error(model.logits(tokens, MatrixChange.NONE), expected)).isLessThan(BOUND);
      }
    }
  }

  private float[] wholeModel(int[] tokens) throws IOException {
    try (Weights weights = ModelFolder.load(folder);
        Model model = new Model(weights, 1, tokens.length, 1, ARITHMETIC)) {
      model.forward(tokens);
      return model.logits().toArray(ValueLayout.JAVA_FLOAT);
    }
  }

  private void write(GptInTorch model) throws IOException {
    Files.writeString(folder.resolve("config.json"), model.config());
    List<Tensor> tensors = new ArrayList<>();
    model.shapes.forEach(
        (name, shape) ->
            tensors.add(new Tensor(name, Dtype.F32, Arrays.stream(shape).boxed().toList())));
    Path file = folder.resolve("model.safetensors");
    try (TensorWriter writer = TensorWriter.create(file, tensors, Map.of(), true)) {
      for (Tensor tensor : writer.order()) {
        ByteBuffer bytes = ByteBuffer.allocate((int) tensor.bytes()).order(ByteOrder.nativeOrder());
        bytes.asFloatBuffer().put(model.values.get(tensor.name()));
        writer.write(MemorySegment.ofArray(bytes.array()));
      }
      writer.commit();
    }
  }

  /** The largest difference, as a share of the largest logit. */
  private static double error(float[] logits, double[] expected) {
    assertThat(logits).hasSize(expected.length);
    double largest = 0;
    double difference = 0;
    for (int i = 0; i < expected.length; i++) {
      assertThat(logits[i]).isFinite();
      largest = Math.max(largest, Math.abs(expected[i]));
      difference = Math.max(difference, Math.abs(logits[i] - expected[i]));
    }
    return difference / largest;
  }
}
