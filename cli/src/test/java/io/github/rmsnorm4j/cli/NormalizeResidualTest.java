package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cli.testing.ChildJvm;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code --residual} and the options that go with it. */
class NormalizeResidualTest {
  private static final int WIDTH = 70;

  @TempDir Path folder;

  private Path file(String name) {
    return folder.resolve(name);
  }

  private static CommandResult run(Object... args) {
    return CommandResult.of("normalize", args);
  }

  private static void assertDone(CommandResult result) {
    assertThat(result.err().lines())
        .singleElement()
        .asString()
        .matches(".* added to .* \\d+\\.\\d\\d s.*");
    assertThat(result.status()).isZero();
  }

  private static TestTensor random(String name, Dtype dtype, long seed) {
    return TestTensor.random(name, dtype, 0.2, seed, 5, 9, WIDTH);
  }

  @ParameterizedTest
  @CsvSource({
    "F32,F32",
    "BF16,BF16",
    "F16,F16",
    "F16,F32",
    "F32,BF16",
    "BF16,F16",
    "F64,F64",
  })
  void isAddedAndWrittenAsTheLibraryDoes(Dtype type, Dtype residualType) throws IOException {
    TestTensor x = random("x", type, 1);
    TestTensor residual = random("h", residualType, 2);
    TestTensor.write(file("x.safetensors"), x);
    TestTensor.write(file("h.safetensors"), residual);
    for (ResidualRounding rounding : ResidualRounding.values()) {
      Norm rms = RmsNorm.builder(WIDTH).residualRounding(rounding).build();
      Norm layer = LayerNorm.builder(WIDTH).residualRounding(rounding).build();
      assertGives(rms, rounding, x, residual);
      assertGives(layer, rounding, x, residual);
    }
  }

  private void assertGives(Norm norm, ResidualRounding rounding, TestTensor x, TestTensor residual)
      throws IOException {
    TestTensor y = x.copy();
    TestTensor sums = residual.copy();
    norm.addAndApply(x.rows(WIDTH), sums.rows(WIDTH), y.rows(WIDTH));
    assertDone(
        run(
            file("x.safetensors"),
            "-f",
            "-o" + file("y.safetensors"),
            "--like=" + norm.spec().kind().name().toLowerCase(Locale.ROOT).replace("_", ""),
            "--residual=" + file("h.safetensors"),
            "--residual-out=" + file("sums.safetensors"),
            "--residual-rounding=" + rounding.name().toLowerCase(Locale.ROOT)));
    assertThat(TestTensor.read(file("y.safetensors"), "x").bytes())
        .as("%s, %s", norm, rounding)
        .isEqualTo(y.bytes());
    TestTensor written = TestTensor.read(file("sums.safetensors"), "h");
    assertThat(written.tensor()).isEqualTo(residual.tensor());
    assertThat(written.bytes()).isEqualTo(sums.bytes()).isNotEqualTo(residual.bytes());
  }

  @Test
  void theRoundingsDifferAndTheFirstIsTheDefault() throws IOException {
    Path in = TestTensor.write(file("x.npy"), random("", Dtype.F16, 1));
    Path added = TestTensor.write(file("h.npy"), random("", Dtype.F16, 2));
    assertDone(run(in, "-o", file("y.npy"), "--residual", added));
    for (String rounding : List.of("first", "between", "last")) {
      Path out = file(rounding + ".npy");
      assertDone(run(in, "-o", out, "--residual", added, "--residual-rounding", rounding));
    }
    byte[] first = Files.readAllBytes(file("first.npy"));
    byte[] last = Files.readAllBytes(file("last.npy"));
    assertThat(file("y.npy")).hasBinaryContent(first);
    assertThat(last).isNotEqualTo(first);
    assertThat(Files.readAllBytes(file("between.npy"))).isNotEqualTo(first).isNotEqualTo(last);
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).hasSize(6); // no sum without --residual-out
    }
  }

  /** More than one piece, of rows that do not divide one, and a wider residual. */
  @Test
  void piecesAndThreadsChangeNothing() throws IOException {
    int width = 3001;
    TestTensor x = TestTensor.random("", Dtype.F16, 0, 8, 1500, width);
    TestTensor residual = TestTensor.random("", Dtype.F32, 0, 9, 1500, width);
    Path in = TestTensor.write(file("x.npy"), x);
    Path added = TestTensor.write(file("h.npy"), residual);
    TestTensor y = x.copy();
    TestTensor sums = residual.copy();
    RmsNorm.builder(width)
        .threads(1)
        .build()
        .addAndApply(x.rows(width), sums.rows(width), y.rows(width));
    for (int threads : new int[] {1, 3}) {
      assertDone(
          run(
              in,
              "-f",
              "-o" + file("y.npy"),
              "--residual=" + added,
              "--residual-out=" + file("sums.npy"),
              "--threads=" + threads));
      assertThat(Arrays.equals(TestTensor.read(file("y.npy")).bytes(), y.bytes())).isTrue();
      assertThat(Arrays.equals(TestTensor.read(file("sums.npy")).bytes(), sums.bytes())).isTrue();
    }
  }

  @Test
  void oneOfSeveralTensorsIsAddedToOneOfSeveral() throws IOException {
    TestTensor a = TestTensor.random("a", Dtype.F32, 0, 1, 3, 8);
    TestTensor b = TestTensor.random("b", Dtype.F32, 0, 2, 3, 8);
    Path model = TestTensor.write(file("m.safetensors"), a, b);
    CommandResult result =
        run(
            model,
            "-o" + file("y.safetensors"),
            "--tensor=a",
            "--residual=" + model + ":b",
            "--residual-out=" + file("sums.safetensors"));
    assertDone(result);
    assertThat(result.err()).contains(": 3 rows of 8, f32 added to f32, ");
    TestTensor y = a.copy();
    TestTensor sums = b.copy();
    RmsNorm.builder(8).build().addAndApply(a.rows(8), sums.rows(8), y.rows(8));
    assertThat(TestTensor.read(file("y.safetensors"), "a").bytes()).isEqualTo(y.bytes());
    assertThat(TestTensor.read(file("y.safetensors"), "b").bytes()).isEqualTo(b.bytes());
    try (TensorFile written = TensorFile.open(file("sums.safetensors"))) {
      assertThat(written.tensors()).containsExactly(b.tensor());
    }
    assertThat(TestTensor.read(file("sums.safetensors"), "b").bytes()).isEqualTo(sums.bytes());
  }

  @Test
  void theSumMayTakeTheResidualsPlace() throws IOException {
    TestTensor x = random("", Dtype.F32, 1);
    TestTensor residual = random("", Dtype.F32, 2);
    Path in = TestTensor.write(file("x.npy"), x);
    Path added = TestTensor.write(file("h.npy"), residual);
    CommandResult refused =
        run(in, "-o", file("y.npy"), "--residual", added, "--residual-out", added);
    assertThat(refused.err()).contains(added + ": exists already; --force replaces it");
    assertThat(TestTensor.read(added).bytes()).isEqualTo(residual.bytes());
    assertThat(file("y.npy")).doesNotExist();
    assertDone(run(in, "-f", "-o", file("y.npy"), "--residual", added, "--residual-out", added));
    RmsNorm.builder(WIDTH)
        .build()
        .addAndApply(x.rows(WIDTH), residual.rows(WIDTH), x.copy().rows(WIDTH));
    assertThat(TestTensor.read(added).bytes()).isEqualTo(residual.bytes());
  }

  @Test
  void theSumOfANamelessTensorIsNamedAfterItsFile() throws IOException {
    Path in = TestTensor.write(file("x.npy"), random("", Dtype.F32, 1));
    Path added = TestTensor.write(file("h.npy"), random("", Dtype.F32, 2));
    Path out = file("sums.safetensors");
    assertDone(run(in, "-o", file("y.npy"), "--residual", added, "--residual-out", out));
    assertThat(TestTensor.read(out, "h").tensor().shape()).containsExactly(5L, 9L, 70L);
  }

  @Test
  void withoutRowsThereIsAnEmptySum() throws IOException {
    TestTensor none = TestTensor.of("", Dtype.F32, new double[0], 0, Integer.MAX_VALUE);
    Path in = TestTensor.write(file("x.npy"), none);
    assertDone(
        run(in, "-o" + file("y.npy"), "--residual=" + in, "--residual-out=" + file("sums.npy")));
    assertThat(TestTensor.read(file("sums.npy")).tensor()).isEqualTo(none.tensor());
  }

  @Test
  void onAFullDiskBothFilesAreLeftAsTheyWere() throws Exception {
    TestTensor x = TestTensor.random("", Dtype.F32, 0, 1, 1200, 1024);
    Path in = TestTensor.write(file("x.npy"), x);
    Files.writeString(file("y.npy"), "old");
    Files.writeString(file("sums.npy"), "old too");
    ChildJvm.failsOnAFullDisk(
        Rmsnorm.class,
        "normalize",
        in,
        "--force",
        "-o" + file("y.npy"),
        "--residual=" + in,
        "--residual-out=" + file("sums.npy"));
    assertThat(file("y.npy")).hasContent("old");
    assertThat(file("sums.npy")).hasContent("old too");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).hasSize(3);
    }
  }
}
