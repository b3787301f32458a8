package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cli.testing.ChildJvm;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code rmsnorm gradient}: bit for bit what the library gives in one call. */
class GradientCommandTest {
  private static final int WIDTH = 70;

  @TempDir Path folder;

  private Path file(String name) {
    return folder.resolve(name);
  }

  private static CommandResult run(Object... args) {
    return CommandResult.of("gradient", args);
  }

  private static void assertDone(CommandResult result) {
    assertThat(result.err().lines())
        .singleElement()
        .asString()
        .matches(".*, dy .* \\d+\\.\\d\\d s.*");
    assertThat(result.out()).isEmpty();
    assertThat(result.status()).isZero();
  }

  private static TestTensor random(String name, Dtype dtype, long seed) {
    return TestTensor.random(name, dtype, 0.2, seed, 5, 9, WIDTH);
  }

  /** DX, and the gradients of gain and bias. */
  private record Gradients(TestTensor dx, TestTensor dgain, TestTensor dbias) {
    static Gradients of(Norm norm, TestTensor x, TestTensor dy, TestTensor dresidual, Dtype type) {
      int width = norm.width();
      Dtype arithmetic = x.tensor().dtype() == Dtype.F64 ? Dtype.F64 : Dtype.F32;
      TestTensor dx = TestTensor.of("x", type, new double[x.values().length], shape(x));
      Saved saved = new Saved(Keep.INPUT, (int) x.rows(width).rows());
      norm.apply(x.rows(width), x.copy().rows(width), saved);
      double[] gain = new double[width];
      double[] bias = new double[width];
      ParameterGradients parameters = ParameterGradients.assigned(gain, bias);
      Rows out = dx.rows(width);
      if (dresidual == null) {
        norm.backward(dy.rows(width), saved, out, parameters);
      } else {
        norm.backward(dy.rows(width), saved, dresidual.rows(width), out, parameters);
      }
      return new Gradients(
          dx,
          TestTensor.of("dgain", arithmetic, gain, width),
          TestTensor.of("dbias", arithmetic, bias, width));
    }

    private static long[] shape(TestTensor tensor) {
      return tensor.tensor().shape().stream().mapToLong(Long::longValue).toArray();
    }
  }

  private void assertGives(Gradients expected) throws IOException {
    same(TestTensor.read(file("dx.safetensors"), "x"), expected.dx);
    same(TestTensor.read(file("dgain.safetensors"), "dgain"), expected.dgain);
    same(TestTensor.read(file("dbias.safetensors"), "dbias"), expected.dbias);
  }

  private static void same(TestTensor actual, TestTensor expected) {
    assertThat(actual.tensor()).isEqualTo(expected.tensor());
    assertThat(Arrays.equals(actual.bytes(), expected.bytes())).as("%s", actual.tensor()).isTrue();
    assertThat(Arrays.stream(expected.values())).anyMatch(value -> value != 0);
  }

  private CommandResult runAll(String... options) {
    List<Object> args =
        new ArrayList<>(
            List.of(
                file("x.safetensors"),
                "-f",
                "--dy=" + file("dy.safetensors"),
                "-o" + file("dx.safetensors"),
                "--dgain=" + file("dgain.safetensors"),
                "--dbias=" + file("dbias.safetensors")));
    args.addAll(List.of(options));
    return run(args.toArray());
  }

  @ParameterizedTest
  @CsvSource({
    "F32,F32,F32",
    "BF16,BF16,BF16",
    "F16,F16,F16",
    "F16,F32,F32",
    "F32,BF16,F16",
    "F64,F64,F64",
  })
  void givesWhatTheLibraryGives(Dtype type, Dtype dyType, Dtype dxType) throws IOException {
    TestTensor x = random("x", type, 1);
    TestTensor dy = random("dy", dyType, 2);
    TestTensor gain = TestTensor.random("g", Dtype.F16, 1, 3, WIDTH);
    TestTensor.write(file("x.safetensors"), x);
    TestTensor.write(file("dy.safetensors"), dy);
    String gainOption = "--gain=" + TestTensor.write(file("g.npy"), gain);
    String typeOption = "--dtype=" + dxType;
    assertDone(runAll(typeOption));
    assertGives(Gradients.of(RmsNorm.builder(WIDTH).build(), x, dy, null, dxType));
    assertDone(runAll(typeOption, gainOption));
    RmsNorm rms = RmsNorm.builder(WIDTH).gain(gain.rows(WIDTH)).build();
    assertGives(Gradients.of(rms, x, dy, null, dxType));
    assertDone(runAll(typeOption, gainOption, "--like=layernorm"));
    LayerNorm layer = LayerNorm.builder(WIDTH).gain(gain.rows(WIDTH)).build();
    assertGives(Gradients.of(layer, x, dy, null, dxType));
  }

  @Test
  void theOptionsOfTheNormReachIt() throws IOException {
    TestTensor x = random("x", Dtype.F32, 1);
    TestTensor dy = random("dy", Dtype.F32, 2);
    TestTensor gain = TestTensor.random("g", Dtype.F32, 0, 3, WIDTH);
    TestTensor.write(file("x.safetensors"), x);
    TestTensor.write(file("dy.safetensors"), dy);
    String gainOption = "--gain=" + TestTensor.write(file("g.npy"), gain);
    assertDone(runAll("--like=gemma", gainOption, "--eps=0.25", "--partial=0.3"));
    Norm gemma = RmsNorm.gemma(WIDTH).gain(gain.rows(WIDTH)).epsilon(0.25).partial(0.3).build();
    assertGives(Gradients.of(gemma, x, dy, null, Dtype.F32));
    assertDone(runAll("--eps=0.25", "--eps-at=outside", "--bias=" + file("g.npy")));
    Norm outside =
        RmsNorm.builder(WIDTH).epsilon(0.25).epsilonPlacement(EpsilonPlacement.OUTSIDE).build();
    assertGives(Gradients.of(outside, x, dy, null, Dtype.F32));
  }

  @ParameterizedTest
  @CsvSource({"F32,F32", "BF16,F32", "F64,F64"})
  void theGradientOfTheResidualIsAdded(Dtype type, Dtype residualType) throws IOException {
    TestTensor x = random("x", type, 1);
    TestTensor dy = random("dy", type, 2);
    TestTensor dresidual = random("dh", residualType, 3);
    TestTensor.write(file("x.safetensors"), x);
    TestTensor.write(file("dy.safetensors"), dy);
    TestTensor.write(file("dh.safetensors"), dresidual);
    assertDone(runAll("--dresidual=" + file("dh.safetensors") + ":dh"));
    assertGives(Gradients.of(RmsNorm.builder(WIDTH).build(), x, dy, dresidual, type));
  }

  /** Axes of a row that are several are several in the gradient of the gain. */
  @Test
  void aRowMayBeOfSeveralAxes() throws IOException {
    TestTensor x = random("", Dtype.F32, 1);
    TestTensor dy = random("", Dtype.F32, 2);
    Path in = TestTensor.write(file("x.npy"), x);
    Path slopes = TestTensor.write(file("dy.npy"), dy);
    Path dgain = file("dgain.npy");
    CommandResult result =
        run(in, "--dy", slopes, "-o", file("dx.npy"), "--axis=1", "--dgain", dgain);
    assertDone(result);
    assertThat(result.err())
        .startsWith(file("dx.npy") + ": 5 rows of 630, x f32, dy f32, dx f32, ");
    Gradients expected = Gradients.of(RmsNorm.builder(9 * WIDTH).build(), x, dy, null, Dtype.F32);
    assertThat(TestTensor.read(file("dx.npy")).bytes()).isEqualTo(expected.dx.bytes());
    assertThat(TestTensor.read(dgain).tensor().shape()).containsExactly(9L, 70L);
    assertThat(TestTensor.read(dgain).bytes()).isEqualTo(expected.dgain.bytes());
    assertThat(file("dbias.npy")).doesNotExist();
  }

  @Test
  void oneOfSeveralTensorsIsChosenInEachFile() throws IOException {
    TestTensor a = random("a", Dtype.BF16, 1);
    TestTensor b = random("b", Dtype.BF16, 2);
    Path model = TestTensor.write(file("m.safetensors"), a, b);
    Path out = file("dx.safetensors");
    assertDone(run(model, "--tensor=b", "--dy=" + model + ":a", "-o", out));
    try (TensorFile written = TensorFile.open(out)) {
      assertThat(written.tensors()).containsExactly(b.tensor());
    }
    Gradients expected = Gradients.of(RmsNorm.builder(WIDTH).build(), b, a, null, Dtype.BF16);
    assertThat(TestTensor.read(out, "b").bytes()).isEqualTo(expected.dx.bytes());
  }

  /** More than one piece as the command cuts them, the last of them shorter. */
  @Test
  void threadsChangeNothing() throws IOException {
    int width = 3001;
    TestTensor x = TestTensor.random("x", Dtype.F16, 0, 8, 2500, width);
    TestTensor dy = TestTensor.random("dy", Dtype.F32, 0, 9, 2500, width);
    TestTensor.write(file("x.safetensors"), x);
    TestTensor.write(file("dy.safetensors"), dy);
    Norm norm = RmsNorm.builder(width).threads(1).build();
    Gradients expected = Gradients.of(norm, x, dy, null, Dtype.F32);
    for (int threads : new int[] {1, 3}) {
      assertDone(runAll("--threads=" + threads));
      assertGives(expected);
    }
  }

  /** From room for less than a row to room for all. */
  @ParameterizedTest
  @ValueSource(longs = {1, 31 * WIDTH * 8, 32 * WIDTH * 8, 100 * WIDTH * 8, 1 << 20})
  void theSizeOfPiecesChangesNothing(long pieceBytes) throws IOException {
    for (Dtype type : List.of(Dtype.F32, Dtype.F64)) {
      TestTensor x = TestTensor.random("x", type, 0.2, 1, 301, WIDTH);
      TestTensor dy = TestTensor.random("dy", type, 0.2, 2, 301, WIDTH);
      TestTensor dresidual = TestTensor.random("dh", type, 0.2, 3, 301, WIDTH);
      TestTensor.write(file("x.safetensors"), x);
      TestTensor.write(file("dy.safetensors"), dy);
      TestTensor.write(file("dh.safetensors"), dresidual);
      runPieces(pieceBytes);
      assertGives(Gradients.of(RmsNorm.builder(WIDTH).build(), x, dy, dresidual, type));
    }
  }

  private void runPieces(long pieceBytes) throws IOException {
    NormSettings settings = new NormSettings(NormSpec.RMSNORM, null, null, null);
    try (StoredRows x = StoredRows.open("X", "" + file("x.safetensors"));
        StoredRows dy = StoredRows.open("--dy", "" + file("dy.safetensors"));
        StoredRows dresidual = StoredRows.open("--dresidual", "" + file("dh.safetensors"))) {
      GradientJob job =
          new GradientJob(
              new GradientInputs(x, null, null, dy, dresidual), -1, null, settings, pieceBytes);
      try (TensorWriter dx = writer("dx", job.content(GradientJob.DX));
          TensorWriter dgain = writer("dgain", job.content(GradientJob.DGAIN));
          TensorWriter dbias = writer("dbias", job.content(GradientJob.DBIAS));
          Progress progress =
              new Progress(new PrintWriter(new StringWriter()), job.bytes(), () -> false)) {
        job.run(
            Map.of(GradientJob.DX, dx, GradientJob.DGAIN, dgain, GradientJob.DBIAS, dbias),
            progress);
        dx.commit();
        dgain.commit();
        dbias.commit();
      }
    }
  }

  private TensorWriter writer(String name, Tensor content) throws IOException {
    return TensorWriter.create(file(name + ".safetensors"), List.of(content), Map.of(), true);
  }

  @Test
  void withoutRowsTheSumsAreZero() throws IOException {
    TestTensor none = TestTensor.of("", Dtype.F32, new double[0], 0, 3);
    Path in = TestTensor.write(file("x.npy"), none);
    Path dgain = file("dgain.npy");
    assertDone(run(in, "--dy", in, "-o", file("dx.npy"), "--dgain", dgain));
    assertThat(TestTensor.read(file("dx.npy")).tensor()).isEqualTo(none.tensor());
    assertThat(TestTensor.read(dgain).values()).containsExactly(0, 0, 0);
  }

  /** No buffer for a width that no byte stands behind. */
  @Test
  void withoutRowsAnyWidthCanBe() throws IOException {
    TestTensor none = TestTensor.of("", Dtype.F32, new double[0], 0, Integer.MAX_VALUE);
    Path in = TestTensor.write(file("x.npy"), none);
    assertDone(run(in, "--dy", in, "-o", file("dx.npy")));
    assertThat(TestTensor.read(file("dx.npy")).tensor()).isEqualTo(none.tensor());
  }

  @Test
  void whatIsNotFiniteIsCounted() throws IOException {
    TestTensor x = TestTensor.of("", Dtype.F32, new double[] {1, 2, 3, Double.NaN, 1, 1}, 2, 3);
    Path in = TestTensor.write(file("x.npy"), x);
    Path dy =
        TestTensor.write(
            file("dy.npy"), TestTensor.of("", Dtype.F32, new double[] {1, 1, 1, 1, 1, 1}, 2, 3));
    CommandResult result = run(in, "--dy", dy, "-o", file("dx.npy"), "--dbias", file("dbias.npy"));
    assertThat(result.err()).contains("; 3 output elements are not finite");
    assertThat(run(in, "--dy", dy, "-q", "-o", file("quiet.npy")))
        .isEqualTo(new CommandResult(0, "", ""));
  }

  @Test
  void onAFullDiskAllFilesAreLeftAsTheyWere() throws Exception {
    Path in = TestTensor.write(file("x.npy"), TestTensor.random("", Dtype.F32, 0, 1, 1200, 1024));
    Files.writeString(file("dx.npy"), "old");
    Files.writeString(file("dgain.npy"), "old too");
    ChildJvm.failsOnAFullDisk(
        Rmsnorm.class,
        "gradient",
        in,
        "--force",
        "--dy=" + in,
        "-o" + file("dx.npy"),
        "--dgain=" + file("dgain.npy"),
        "--dbias=" + file("dbias.npy"));
    assertThat(file("dx.npy")).hasContent("old");
    assertThat(file("dgain.npy")).hasContent("old too");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).hasSize(3);
    }
  }
}
