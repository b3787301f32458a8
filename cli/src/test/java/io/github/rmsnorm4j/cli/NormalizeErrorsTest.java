package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every error is one line that names the file and what is wrong, and nothing is written. */
class NormalizeErrorsTest {
  private static final int FAILURE = 1;
  private static final int WRONG_USE = 2;

  @TempDir Path folder;

  private Path npy;
  private Path model;

  @BeforeEach
  void files() throws IOException {
    npy = TestTensor.write(folder.resolve("x.npy"), TestTensor.random("", Dtype.F32, 0, 1, 3, 8));
    model =
        TestTensor.write(
            folder.resolve("m.safetensors"),
            TestTensor.random("a", Dtype.F32, 0, 1, 3, 8),
            TestTensor.random("b", Dtype.BF16, 0, 2, 5),
            TestTensor.of("ids", Dtype.I64, new double[] {1, 2}, 2));
  }

  /** Two tensors of rows. */
  private Path two() throws IOException {
    return TestTensor.write(
        folder.resolve("two.safetensors"),
        TestTensor.random("a", Dtype.F32, 0, 1, 3, 8),
        TestTensor.random("c", Dtype.BF16, 0, 2, 2, 5));
  }

  private void assertError(int status, String message, Object... args) throws IOException {
    List<Path> before = files(folder);
    CommandResult result = CommandResult.of("normalize", args);
    assertThat(result.err().lines().toList()).hasSize(1);
    assertThat(result.err()).startsWith("rmsnorm normalize: ").contains(message);
    assertThat(result.out()).isEmpty();
    assertThat(result.status()).isEqualTo(status);
    assertThat(files(folder)).isEqualTo(before);
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted().toList();
    }
  }

  private Path y() {
    return folder.resolve("y.npy");
  }

  @Test
  void aMissingInput() throws IOException {
    Path none = folder.resolve("none.npy");
    assertError(FAILURE, none + ": no such file", none, "-o", y());
  }

  @Test
  void aTruncatedInput() throws IOException {
    byte[] content = Files.readAllBytes(npy);
    Files.write(npy, Arrays.copyOf(content, content.length - 1));
    assertError(
        FAILURE,
        npy + ": is truncated: f32 [3, 8] needs 96 bytes of data, the file has 95",
        npy,
        "-o",
        y());
  }

  @Test
  void aHeaderLongerThanTheFile() throws IOException {
    Files.write(model, Arrays.copyOf(Files.readAllBytes(model), 50));
    assertError(FAILURE, "which is longer than the file of 50", model, "-o", y());
  }

  @Test
  void aFileOfAnotherKind() throws IOException {
    Path other = Files.writeString(folder.resolve("notes.txt"), "some text\n");
    assertError(
        FAILURE, other + ": is neither a .npy, a .safetensors nor a GGUF file", other, "-o", y());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "NaN; epsilon is NaN, it must be finite and not negative",
        "-1e-6; epsilon is -1.0E-6, it must be finite and not negative",
        "Infinity; epsilon is Infinity, it must be finite and not negative",
        "small; is not a number",
      })
  void anEpsilonThatCannotBe(String epsilon, String message) throws IOException {
    assertError(WRONG_USE, message, npy, "-o", y(), "--eps=" + epsilon);
  }

  @Test
  void aGainOfTheWrongLength() throws IOException {
    Path gain =
        TestTensor.write(folder.resolve("g.npy"), TestTensor.random("", Dtype.F32, 0, 1, 7));
    assertError(
        WRONG_USE,
        npy + ": f32 [3, 8]: the gain has 7 elements, the rows are 8 wide",
        npy,
        "-o",
        y(),
        "--gain",
        gain);
    assertError(
        WRONG_USE,
        npy + ": f32 [3, 8]: the bias has 5 elements, the rows are 8 wide",
        npy,
        "-o",
        y(),
        "--bias",
        model + ":b");
  }

  @Test
  void aGainThatIsNone() throws IOException {
    assertError(
        WRONG_USE,
        model + ": has 3 tensors, name one as FILE:TENSOR: a f32 [3, 8], b bf16 [5], ids i64 [2]",
        npy,
        "-o",
        y(),
        "--gain",
        model);
    assertError(
        WRONG_USE,
        model + ": has no tensor 'g', it has a f32 [3, 8]",
        npy,
        "-o",
        y(),
        "--gain",
        model + ":g");
    assertError(
        WRONG_USE,
        model + ": the gain is ids i64 [2], it may be f64, f32, f16 or bf16",
        npy,
        "-o",
        y(),
        "--gain",
        model + ":ids");
    Path none = folder.resolve("none.safetensors");
    assertError(FAILURE, none + ": no such file", npy, "-o", y(), "--gain", none + ":g");
  }

  @Test
  void aGainThatDoesNotFitAllTensors() throws IOException {
    Path gain =
        TestTensor.write(folder.resolve("g.npy"), TestTensor.random("", Dtype.F32, 0, 1, 8));
    Path two = two();
    assertError(
        WRONG_USE,
        two
            + ": tensor c bf16 [2, 5]: the gain has 8 elements, the rows are 5 wide; choose with"
            + " --tensor from a f32 [3, 8], c bf16 [2, 5]",
        two,
        "-o",
        folder.resolve("y.safetensors"),
        "--gain",
        gain);
  }

  @Test
  void aTensorThatIsNotThere() throws IOException {
    assertError(
        WRONG_USE,
        model + ": has no tensor 'c', it has a f32 [3, 8], b bf16 [5], ids i64 [2]",
        model,
        "-o",
        folder.resolve("y.safetensors"),
        "--tensor",
        "c");
  }

  @Test
  void parametersAlone() throws IOException {
    Path gains =
        TestTensor.write(
            folder.resolve("g.safetensors"),
            TestTensor.random("g", Dtype.F32, 1, 1, 8),
            TestTensor.random("h", Dtype.F32, 1, 2, 8));
    assertError(
        WRONG_USE,
        gains
            + ": has only tensors of one axis, which are gains and biases in a model; choose with"
            + " --tensor from g f32 [8], h f32 [8]",
        gains,
        "-o",
        folder.resolve("y.safetensors"));
  }

  @Test
  void aScalarThatIsNamedOrAlone() throws IOException {
    String problem = "axis is -1, but the tensor is a scalar and has none";
    Path scalar = folder.resolve("s.safetensors");
    Path y = folder.resolve("y.safetensors");
    TestTensor s = TestTensor.of("s", Dtype.F32, new double[] {2});
    TestTensor.write(scalar, s);
    assertError(WRONG_USE, scalar + ": s f32 []: " + problem, scalar, "-o", y);
    TestTensor.write(scalar, s, TestTensor.random("x", Dtype.F32, 1, 1, 3, 8));
    assertError(WRONG_USE, scalar + ": tensor s f32 []: " + problem, scalar + ":s", "-o", y);
    TestTensor.write(scalar, s, TestTensor.random("g", Dtype.F32, 1, 1, 8));
    assertError(
        WRONG_USE,
        scalar
            + ": has only tensors of one axis, which are gains and biases in a model; choose with"
            + " --tensor from g f32 [8]",
        scalar,
        "-o",
        y);
  }

  @Test
  void aTensorThatIsNamedTwice() throws IOException {
    assertError(
        WRONG_USE,
        "--tensor is b, and " + model + ":a names a tensor too: give one of the two",
        model + ":a",
        "-o",
        y(),
        "--tensor=b");
  }

  @Test
  void aTensorThatIsNotFloating() throws IOException {
    assertError(
        WRONG_USE,
        model + ": tensor ids i64 [2]: its elements are neither f64, f32, f16 nor bf16",
        model,
        "-o",
        folder.resolve("y.safetensors"),
        "--tensor",
        "ids");
  }

  @Test
  void anAxisThatIsNotThere() throws IOException {
    assertError(
        WRONG_USE,
        npy + ": f32 [3, 8]: axis is 2, the shape [3, 8] allows -2 to 1",
        npy,
        "-o",
        y(),
        "--axis",
        2);
  }

  @Test
  void rowsOfNoWidth() throws IOException {
    Path empty =
        TestTensor.write(
            folder.resolve("e.safetensors"), TestTensor.of("e", Dtype.F32, new double[0], 3, 0));
    assertError(
        WRONG_USE,
        empty + ": tensor e f32 [3, 0]: its rows are 0 wide, they may be 1 to 2147483647",
        empty + ":e",
        "-o",
        y());
  }

  @Test
  void bfloat16InNpy() throws IOException {
    assertError(
        WRONG_USE,
        y() + ": .npy has no bfloat16; write a .safetensors file or another type",
        npy,
        "-o",
        y(),
        "--dtype",
        "bf16");
  }

  @Test
  void severalTensorsInNpy() throws IOException {
    assertError(
        WRONG_USE,
        y()
            + ": a .npy file holds one tensor, "
            + model
            + " has 3: choose one with --tensor or write .safetensors",
        model,
        "-o",
        y());
  }

  @Test
  void severalChosenTensorsInNpy() throws IOException {
    assertError(
        WRONG_USE,
        y() + ": a .npy file holds one tensor, 2 were chosen: choose one or write .safetensors",
        model,
        "-o",
        y(),
        "--tensor=a",
        "--tensor=b");
  }

  @Test
  void anEmptyName() throws IOException {
    assertError(WRONG_USE, "IN is empty, it must name a file", "", "-o", y());
    assertError(WRONG_USE, "OUT is empty, it must name a file", npy, "-o", "");
  }

  @Test
  void aNameThatATerminalWouldObey() throws IOException {
    String name = folder + "/\u001b[2J\u202e.npy";
    assertError(FAILURE, folder + "/\\u{1b}[2J\\u{202e}.npy: no such", name, "-o", y());
    CommandResult done = CommandResult.of("normalize", npy.toString(), "-o", name);
    assertThat(done.err()).startsWith(folder + "/\\u{1b}[2J\\u{202e}.npy: 3 rows of 8");
  }

  @Test
  void aTypeThatIsNone() throws IOException {
    assertError(
        WRONG_USE,
        "type is 'int8', it may be f16, bf16, f32 or f64",
        npy,
        "-o",
        y(),
        "--dtype",
        "int8");
  }

  @Test
  void aFormatThatIsNone() throws IOException {
    Path out = folder.resolve("y.bin");
    assertError(WRONG_USE, out + ": the name must end in .npy or .safetensors", npy, "-o", out);
  }

  @Test
  void threadsThatCannotBe() throws IOException {
    assertError(WRONG_USE, "threads is 0, it must be at least 1", npy, "-o", y(), "--threads", 0);
  }

  @Test
  void anOutputThatExists() throws IOException {
    Files.writeString(y(), "old");
    assertError(WRONG_USE, y() + ": exists already; --force replaces it", npy, "-o", y());
    assertThat(y()).hasContent("old");
  }

  @Test
  void anUnwritableFolder() throws IOException {
    assertError(FAILURE, "/sys/y.npy: cannot write to the folder /sys: ", npy, "-o", "/sys/y.npy");
    Path none = folder.resolve("none").resolve("y.npy");
    assertError(FAILURE, none + ": there is no folder " + none.getParent(), npy, "-o", none);
  }

  /** Where options stand in the way of each other; {g} is a gain, {r} a residual that fits. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "--like=batch; norm is 'batch', it may be rmsnorm, layernorm, llama, gemma, t5, paper, pytorch, onnx, l2, unit, or a model_type",
        "--like=qwen3_next; norm is 'qwen3_next', such a model has several: gemma",
        "--like=llama --bias={g}; cast order is LLAMA, with a bias it must be FLOAT32",
        "--like=t5 --gain={g} --gain-offset=1; gain offset is 1.0, it must be 0 with cast order T5",
        "--gain-offset=1; --gain-offset is 1.0, it needs --gain, which it is added to",
        "--gain={g} --gain-offset=NaN; gain offset is NaN, it must be finite",
        "--cast-order=t5 --like=layernorm; cast order is T5, only an RMSNorm may have another than FLOAT32",
        "--cast-order=onnx --bias={g}; cast order is ONNX, with a bias it must be FLOAT32",
        "--cast-order=t5 --gain={g} --gain-offset=1; gain offset is 1.0, it must be 0 with cast order T5",
        "--like=gemma --cast-order=t5 --gain={g}; gain offset is 1.0, it must be 0 with cast order T5",
        "--partial-rounding=down; --partial-rounding is down, it needs --partial",
        "--partial=0.5 --like=layernorm; part is 1/2, only an RMSNorm may have another than 1",
        "--partial=0; --partial is 0.0, it must be above 0 and at most 1",
        "--partial=1.01; --partial is 1.01, it must be above 0 and at most 1",
        "--partial=NaN; --partial is NaN, it must be above 0 and at most 1",
        "--eps-at=below; expected one of [inside, outside, floor]",
        "--eps=-1 --like=gemma; epsilon is -1.0, it must be finite and not negative",
        "--cast-order=bf16; expected one of [float32, llama, t5, onnx, divided, gain-first, rounded-root, none, none-divided] but was 'bf16'",
        "--like=rmsnorm(gate=silu); --like is rmsnorm(gate=silu), it needs --gate",
        "--norm=layer; there is no option '--norm=layer'",
        "--like=l2 --cast-order=llama; cast order is LLAMA, only an RMSNorm may have another than FLOAT32",
        "--residual-out=h.npy; --residual-out is h.npy, it needs --residual",
        "--residual-rounding=last; --residual-rounding is last, it needs --residual",
        "--residual={r} --residual-rounding=never; expected one of [first, between, last]",
        "--residual=; --residual is empty, it must name a file",
        "--residual={r} --residual-out=; --residual-out is empty, it must name a file",
        "--residual={r} --residual-out=h.bin; h.bin: the name must end in .npy or .safetensors",
      })
  void optionsThatDoNotGoTogether(String options, String message) throws IOException {
    Path gain =
        TestTensor.write(folder.resolve("g.npy"), TestTensor.random("", Dtype.F32, 0, 1, 8));
    Stream<String> words =
        Arrays.stream(options.replace("{g}", "" + gain).replace("{r}", model + ":a").split(" "));
    assertError(WRONG_USE, message, Stream.concat(Stream.of(npy, "-o", y()), words).toArray());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "b; the residual is b bf16 [5], its shape must be that of the rows, [3, 8]",
        "flat; the residual is flat f32 [24], its shape must be that of the rows, [3, 8]",
        "wide; the residual is wide f64 [3, 8], the rows are f32: both must be f64, or neither",
        "ids; the residual is ids i64 [2], it may be f64, f32, f16 or bf16",
        "c; has no tensor 'c', it has b bf16 [5], flat f32 [24], wide f64 [3, 8], ids i64 [2]",
      })
  void aResidualThatDoesNotFit(String name, String message) throws IOException {
    Path residuals =
        TestTensor.write(
            folder.resolve("r.safetensors"),
            TestTensor.random("b", Dtype.BF16, 0, 2, 5),
            TestTensor.random("flat", Dtype.F32, 0, 2, 24),
            TestTensor.random("wide", Dtype.F64, 0, 2, 3, 8),
            TestTensor.of("ids", Dtype.I64, new double[] {1, 2}, 2));
    String residual = "--residual=" + residuals + ":" + name;
    assertError(WRONG_USE, residuals + ": " + message, npy, "-o", y(), residual);
  }

  @Test
  void aResidualForSeveralTensors() throws IOException {
    assertError(
        WRONG_USE,
        "--residual is for one tensor, 2 were chosen: choose one with --tensor from a f32 [3, 8],",
        two(),
        "-o",
        folder.resolve("y.safetensors"),
        "--residual",
        npy);
  }

  @Test
  void aResidualThatIsNotThere() throws IOException {
    Path none = folder.resolve("none.npy");
    assertError(FAILURE, none + ": no such file", npy, "-o", y(), "--residual", none);
  }

  /** What would be lost if the sum took its place. */
  @Test
  void aSumInThePlaceOfAnotherFile() throws IOException {
    String residual = "--residual=" + model + ":a";
    Path link = Files.createSymbolicLink(folder.resolve("link"), folder);
    Path again = link.resolve("y.npy");
    assertError(
        WRONG_USE,
        "--residual-out is " + again + ", OUT is the same file: they must be two",
        npy,
        "-fo" + y(),
        residual,
        "--residual-out=" + again);
    assertError(
        WRONG_USE,
        "--residual-out is " + npy + ", IN is the same file: they must be two",
        npy,
        "-fo" + y(),
        residual,
        "--residual-out=" + npy);
    assertError(
        WRONG_USE,
        "--residual-out is " + model + ", which holds 3 tensors: it must be a file of its own",
        npy,
        "-fo" + y(),
        residual,
        "--residual-out=" + model);
  }

  /** Whether it may be replaced or not: the link leads to where nothing is yet. */
  @Test
  void aSumWhereALinkLeadsToTheResult() throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("link.npy"), Path.of("y.npy"));
    for (String out : new String[] {"-o", "-fo"}) {
      assertError(
          WRONG_USE,
          "--residual-out is " + link + ", OUT is the same file: they must be two",
          npy,
          out,
          y(),
          "--residual=" + model + ":a",
          "--residual-out=" + link);
    }
  }

  @Test
  void aSumThatCannotBeWritten() throws IOException {
    String residual = "--residual=" + model + ":a";
    Path none = folder.resolve("none").resolve("h.npy");
    assertError(
        FAILURE,
        none + ": there is no folder",
        npy,
        "-o" + y(),
        residual,
        "--residual-out=" + none);
    Path sums = folder.resolve("h.npy");
    assertError(
        FAILURE,
        none + ": there is no folder",
        npy,
        "-o" + none,
        residual,
        "--residual-out=" + sums);
    Path bf16 =
        TestTensor.write(
            folder.resolve("r.safetensors"), TestTensor.random("b", Dtype.BF16, 0, 2, 3, 8));
    assertError(
        WRONG_USE,
        sums + ": .npy has no bfloat16",
        npy,
        "-o" + y(),
        "--residual=" + bf16,
        "--residual-out=" + sums);
  }
}
