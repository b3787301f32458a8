package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code rmsnorm gradient --residual}: back through the sum, as the library goes. */
class GradientResidualTest {
  private static final int WIDTH = 70;

  @TempDir Path folder;

  private Path file(String name) {
    return folder.resolve(name + ".safetensors");
  }

  /** X, a residual, DY, the gradient of the sum, in files of their names. */
  private record Inputs(TestTensor x, TestTensor h, TestTensor dy, TestTensor dh) {
    static Inputs random(Dtype type, Dtype residual, Dtype slopes, long rows, int width) {
      return new Inputs(
          TestTensor.random("x", type, 0.2, 1, rows, width),
          TestTensor.random("h", residual, 0.1, 2, rows, width),
          TestTensor.random("dy", slopes, 0, 3, rows, width),
          TestTensor.random("dh", slopes, 0, 4, rows, width));
    }
  }

  private void write(Inputs in) throws IOException {
    for (TestTensor tensor : List.of(in.x, in.h, in.dy, in.dh)) {
      TestTensor.write(file(tensor.tensor().name()), tensor);
    }
  }

  private CommandResult run(String... options) {
    List<String> args =
        new ArrayList<>(
            List.of(
                "gradient",
                "" + file("x"),
                "-f",
                "--dy=" + file("dy"),
                "-o=" + file("dx"),
                "--residual=" + file("h"),
                "--dgain=" + file("dgain"),
                "--dbias=" + file("dbias")));
    args.addAll(List.of(options));
    return CommandResult.of(args.toArray(String[]::new));
  }

  private static String option(ResidualRounding rounding) {
    return "--residual-rounding=" + rounding.name().toLowerCase(Locale.ROOT);
  }

  /** Compares the files with what the library gives in one call. */
  private void assertGives(Norm norm, Inputs in, boolean withSums, Dtype dxType)
      throws IOException {
    int width = norm.width();
    TestTensor h = in.h.copy();
    Saved saved = new Saved(Keep.INPUT, (int) h.rows(width).rows());
    norm.addAndApply(in.x.rows(width), h.rows(width), in.x.copy().rows(width), saved);
    double[] values = new double[in.x.values().length];
    TestTensor dx = TestTensor.of("x", dxType, values, values.length / width, width);
    double[] gain = new double[width];
    double[] bias = new double[width];
    ParameterGradients parameters = ParameterGradients.assigned(gain, bias);
    if (withSums) {
      norm.backward(in.dy.rows(width), saved, in.dh.rows(width), dx.rows(width), parameters);
    } else {
      norm.backward(in.dy.rows(width), saved, dx.rows(width), parameters);
    }
    Dtype arithmetic = in.x.tensor().dtype() == Dtype.F64 ? Dtype.F64 : Dtype.F32;
    same("dx", "x", dx);
    same("dgain", "dgain", TestTensor.of("dgain", arithmetic, gain, width));
    same("dbias", "dbias", TestTensor.of("dbias", arithmetic, bias, width));
  }

  private void same(String file, String name, TestTensor expected) throws IOException {
    TestTensor actual = TestTensor.read(file(file), name);
    assertThat(actual.tensor()).isEqualTo(expected.tensor());
    assertThat(Arrays.equals(actual.bytes(), expected.bytes())).as(file).isTrue();
    assertThat(Arrays.stream(expected.values())).anyMatch(value -> value != 0);
  }

  @ParameterizedTest
  @CsvSource({
    "F32,F32,F32",
    "BF16,BF16,BF16",
    "F16,F16,F16",
    "F16,F32,F16",
    "F32,BF16,F32",
    "BF16,F16,F32",
    "F64,F64,F64",
  })
  void givesWhatTheLibraryGives(Dtype type, Dtype residual, Dtype slopes) throws IOException {
    Inputs in = Inputs.random(type, residual, slopes, 45, WIDTH);
    write(in);
    TestTensor gain = TestTensor.random("g", Dtype.F16, 1, 5, WIDTH);
    String gainOption = "--gain=" + TestTensor.write(file("g"), gain);
    String dresidual = "--dresidual=" + file("dh");
    for (ResidualRounding rounding : ResidualRounding.values()) {
      CommandResult result = run(option(rounding), gainOption, dresidual);
      assertThat(result.err())
          .contains(
              ": 45 rows of 70, x %s added to %s, dy ".formatted(lower(type), lower(residual)));
      assertThat(result.status()).isZero();
      Norm rms = RmsNorm.builder(WIDTH).gain(gain.rows(WIDTH)).residualRounding(rounding).build();
      assertGives(rms, in, true, slopes);
      assertThat(run(option(rounding), "--like=layernorm").status()).isZero();
      assertGives(LayerNorm.builder(WIDTH).residualRounding(rounding).build(), in, false, slopes);
      assertThat(run(option(rounding), "--like=llama", gainOption).status()).isZero();
      Norm llama = RmsNorm.llama(WIDTH).gain(gain.rows(WIDTH)).residualRounding(rounding).build();
      assertGives(llama, in, false, slopes);
    }
  }

  private static String lower(Dtype type) {
    return type.name().toLowerCase(Locale.ROOT);
  }

  /** Or the test above would pass with one rounding for all. */
  @Test
  void theRoundingsDifferAndTheFirstIsTheDefault() throws IOException {
    write(Inputs.random(Dtype.F16, Dtype.F16, Dtype.F32, 45, WIDTH));
    List<byte[]> dx = new ArrayList<>();
    for (ResidualRounding rounding : ResidualRounding.values()) {
      assertThat(run(option(rounding)).status()).isZero();
      dx.add(Files.readAllBytes(file("dx")));
    }
    assertThat(run().status()).isZero();
    assertThat(file("dx")).hasBinaryContent(dx.get(0));
    assertThat(dx.get(1)).isNotEqualTo(dx.get(0));
  }

  /** What normalize writes is what is gone back from. */
  @ParameterizedTest
  @CsvSource({"F16,F16", "F16,F32", "F32,BF16"})
  void theSumThatWasWrittenGivesTheSameIfItWasRoundedFirst(Dtype type, Dtype residual)
      throws IOException {
    write(Inputs.random(type, residual, Dtype.F16, 45, WIDTH));
    assertThat(run().status()).isZero();
    byte[] dx = TestTensor.read(file("dx"), "x").bytes();
    CommandResult forward =
        CommandResult.of(
            "normalize",
            "" + file("x"),
            "-o=" + file("y"),
            "--residual=" + file("h"),
            "--residual-out=" + file("sums"));
    assertThat(forward.status()).isZero();
    CommandResult back =
        CommandResult.of("gradient", "" + file("sums"), "--dy=" + file("dy"), "-o=" + file("back"));
    assertThat(back.status()).as(back.err()).isZero();
    assertThat(TestTensor.read(file("back"), "h").bytes()).isEqualTo(dx);
  }

  /** More than one piece as the command cuts them, the last of them shorter. */
  @Test
  void threadsChangeNothing() throws IOException {
    int width = 3001;
    Inputs in = Inputs.random(Dtype.F16, Dtype.F32, Dtype.F16, 2500, width);
    write(in);
    Norm norm = RmsNorm.builder(width).threads(1).build();
    for (int threads : new int[] {1, 3}) {
      assertThat(run("--threads=" + threads).status()).isZero();
      assertGives(norm, in, false, Dtype.F16);
    }
  }

  /** From room for less than a row to room for all; the residual's elements are the widest. */
  @ParameterizedTest
  @ValueSource(longs = {1, 32 * WIDTH * 4 - 1, 32 * WIDTH * 4, 100 * WIDTH * 4, 1 << 20})
  void theSizeOfPiecesChangesNothing(long pieceBytes) throws IOException {
    Inputs in = Inputs.random(Dtype.BF16, Dtype.F32, Dtype.F16, 301, WIDTH);
    write(in);
    NormSettings settings =
        new NormSettings(
            NormSpec.RMSNORM.withResidualRounding(ResidualRounding.LAST), null, null, null);
    StringWriter err = new StringWriter();
    try (StoredRows x = StoredRows.open("X", "" + file("x"));
        StoredRows h = StoredRows.open("the residual", "" + file("h"));
        StoredRows dy = StoredRows.open("--dy", "" + file("dy"));
        StoredRows dh = StoredRows.open("--dresidual", "" + file("dh"))) {
      GradientInputs inputs = new GradientInputs(x, h, null, dy, dh);
      assertThat(inputs.bytes()).isEqualTo(301 * WIDTH * (2 + 4 + 2 + 2));
      GradientJob job = new GradientJob(inputs, -1, null, settings, pieceBytes);
      try (TensorWriter dx = writer("dx", job.content(GradientJob.DX));
          TensorWriter dgain = writer("dgain", job.content(GradientJob.DGAIN));
          TensorWriter dbias = writer("dbias", job.content(GradientJob.DBIAS));
          Progress progress = new Progress(new PrintWriter(err), job.bytes(), () -> false)) {
        job.run(
            Map.of(GradientJob.DX, dx, GradientJob.DGAIN, dgain, GradientJob.DBIAS, dbias),
            progress);
        dx.commit();
        dgain.commit();
        dbias.commit();
      }
    }
    Norm norm = RmsNorm.builder(WIDTH).residualRounding(ResidualRounding.LAST).build();
    assertGives(norm, in, true, Dtype.F16);
  }

  private TensorWriter writer(String name, Tensor content) throws IOException {
    return TensorWriter.create(file(name), List.of(content), Map.of(), true);
  }

  /** No buffer for a width that no byte stands behind. */
  @Test
  void withoutRowsAnyWidthCanBe() throws IOException {
    TestTensor none = TestTensor.of("", Dtype.F32, new double[0], 0, Integer.MAX_VALUE);
    Path in = TestTensor.write(folder.resolve("x.npy"), none);
    Path dx = folder.resolve("dx.npy");
    CommandResult result =
        CommandResult.of("gradient", "" + in, "--dy=" + in, "--residual=" + in, "-o=" + dx);
    assertThat(result.status()).as(result.err()).isZero();
    assertThat(TestTensor.read(dx).tensor()).isEqualTo(none.tensor());
  }
}
