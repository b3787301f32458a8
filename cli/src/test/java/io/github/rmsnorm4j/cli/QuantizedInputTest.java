package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Codes and scales of a file that is read are no rows, and stay as they are. */
class QuantizedInputTest {
  private static final int WRONG_USE = 2;

  @TempDir Path folder;
  private Path out;

  @BeforeEach
  void output() {
    out = folder.resolve("y.safetensors");
  }

  /** A quantised tensor h, with others. */
  private Path quantized(String type, TestTensor... others) throws IOException {
    TestTensor[] tensors = new TestTensor[others.length + 1];
    System.arraycopy(others, 0, tensors, 1, others.length);
    tensors[0] = TestTensor.random("h", Dtype.F32, 0, 1, 3, 64);
    Path in = TestTensor.write(folder.resolve("x.safetensors"), tensors);
    Path codes = folder.resolve("codes.safetensors");
    CommandResult.of("normalize", "-q", "-f", in + ":h", "-o", "" + codes, "--quantize", type);
    return codes;
  }

  private static void assertRefused(String message, Object... words) {
    String[] arguments = new String[words.length];
    for (int i = 0; i < words.length; i++) {
      arguments[i] = "" + words[i];
    }
    CommandResult result = CommandResult.of(arguments);
    assertThat(result.err().lines()).singleElement().asString().contains(message);
    assertThat(result.status()).isEqualTo(WRONG_USE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"int8:32", "int8:row", "f8e4m3:64"})
  void codesAndScalesAreNotNormalised(String type) throws IOException {
    Path codes = quantized(type);
    String scales = "its elements are scales of codes";
    assertRefused("has no floating tensor besides scales", "normalize", codes, "-o", out);
    assertRefused(scales, "normalize", codes + ":h.scale", "-o", out);
    assertRefused("are neither f64", "normalize", codes + ":h", "-o", out);
    Path dy =
        TestTensor.write(folder.resolve("dy.npy"), TestTensor.random("", Dtype.F32, 0, 1, 3, 64));
    assertRefused(
        "has no floating tensor besides scales", "gradient", codes, "--dy", dy, "-o", out);
    assertRefused(scales, "gradient", codes + ":h.scale", "--dy", dy, "-o", out);
    assertRefused("are neither f64", "gradient", codes + ":h", "--dy", dy, "-o", out);
    assertRefused(scales, "gradient", dy, "--dy", codes + ":h.scale", "-o", out);
    assertRefused(scales, "normalize", dy, "--residual", codes + ":h.scale", "-o", out);
    assertRefused(scales, "normalize", dy, "--gain", codes + ":h.scale", "-o", out);
    assertRefused(scales, "normalize", dy, "--bias", codes + ":h.scale", "-o", out);
    assertThat(out).doesNotExist();
  }

  @Test
  void blocksOfGgmlAreNotNormalised() throws IOException {
    Path codes = quantized("q8_0");
    assertRefused("has no floating tensor, it has h u8", "normalize", codes, "-o", out);
    assertRefused("are neither f64", "normalize", codes + ":h", "-o", out);
  }

  @Test
  void theyStayNextToRowsThatAreNormalised() throws IOException {
    TestTensor g = TestTensor.random("g", Dtype.F32, 0, 2, 64);
    Path codes = quantized("int8:32", TestTensor.random("x", Dtype.F32, 0, 2, 5, 64), g);
    CommandResult result = CommandResult.of("normalize", "" + codes, "-o", "" + out);
    assertThat(result.err()).contains("5 rows of 64", "1 tensor of one axis left");
    for (String name : new String[] {"h", "h.scale", "g"}) {
      assertThat(TestTensor.read(out, name))
          .usingRecursiveComparison()
          .isEqualTo(TestTensor.read(codes, name));
    }
    assertMetadata(Map.of("quantized.h", "int8:32"));
    assertThat(CommandResult.of("show", "" + out).out()).contains("stored as int8:32");
    CommandResult gradient =
        CommandResult.of(
            "gradient", "" + codes, "--dy", codes + ":x", "-o", "" + folder.resolve("dx.npy"));
    assertThat(gradient.err()).contains("5 rows of 64");
  }

  @Test
  void metadataOfATensorThatIsNormalisedIsLeftOut() throws IOException {
    Path in =
        TestTensor.write(
            folder.resolve("x.safetensors"),
            Map.of("quantized.x", "int8:32", "a", "b"),
            TestTensor.random("x", Dtype.F32, 0, 1, 3, 64),
            TestTensor.random("x.scale", Dtype.F32, 0, 1, 3, 2));
    assertThat(CommandResult.of("normalize", "" + in, "-o", "" + out).err())
        .contains("2 tensors, 6 rows of 2 to 64");
    assertMetadata(Map.of("a", "b"));
  }

  private void assertMetadata(Map<String, String> metadata) throws IOException {
    try (TensorFile file = TensorFile.open(out)) {
      assertThat(file.metadata()).isEqualTo(metadata);
    }
  }

  /** Codes and scales apart are two passes over the rows and the residual. */
  @ParameterizedTest
  @ValueSource(strings = {"q8_0", "int8:32"})
  void allBytesThatAreReadAreCounted(String type) throws IOException {
    TestTensor kept = TestTensor.random("kept", Dtype.F32, 0, 1, 7);
    Path in =
        TestTensor.write(
            folder.resolve("x.safetensors"), TestTensor.random("x", Dtype.BF16, 0, 1, 3, 64), kept);
    Path added =
        TestTensor.write(folder.resolve("r.npy"), TestTensor.random("", Dtype.F32, 0, 1, 3, 64));
    try (TensorFile file = TensorFile.open(in);
        StoredRows residual = StoredRows.open("the residual", "" + added);
        Normalizer normalizer = new CpuNormalizer()) {
      Tensor x = file.tensor("x");
      NormalizeJob job =
          new NormalizeJob(
              file,
              out,
              List.of(x),
              file.tensors(),
              -1,
              null,
              QuantizedType.ofName(type),
              (width, backend) ->
                  RmsNorm.builder(width)
                      .backend(Backend.scalar())
                      .quantizer(Quantizer.defaults())
                      .build(),
              residual,
              normalizer);
      int passes = type.equals("q8_0") ? 1 : 2;
      assertThat(job.bytes()).isEqualTo(passes * 3 * 64 * (2 + 4) + 7 * 4);
    }
  }
}
