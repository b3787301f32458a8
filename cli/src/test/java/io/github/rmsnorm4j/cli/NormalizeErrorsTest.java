package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

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

  private void assertError(int status, String message, Object... args) throws IOException {
    List<Path> before = files(folder);
    Object[] all =
        Stream.concat(Stream.of("normalize"), Arrays.stream(args).map(Object::toString)).toArray();
    CommandResult result = CommandResult.of(Arrays.copyOf(all, all.length, String[].class));
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
    assertError(FAILURE, other + ": is neither a .npy nor a .safetensors file", other, "-o", y());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "NaN; epsilon is NaN, it must be finite and not negative",
        "-1e-6; epsilon is -1.0E-6, it must be finite and not negative",
        "Infinity; epsilon is Infinity, it must be finite and not negative",
        "small; is not a double",
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
    assertError(
        WRONG_USE,
        model
            + ": tensor b bf16 [5]: the gain has 8 elements, the rows are 5 wide; choose with"
            + " --tensor from a f32 [3, 8], b bf16 [5]",
        model,
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
            folder.resolve("e.npy"), TestTensor.of("", Dtype.F32, new double[0], 3, 0));
    assertError(
        WRONG_USE,
        empty + ": f32 [3, 0]: its rows are 0 wide, they may be 1 to 2147483647",
        empty,
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
}
