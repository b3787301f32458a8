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

/** Every error is one line that names the argument and what is wrong, and nothing is written. */
class GradientErrorsTest {
  private static final int FAILURE = 1;
  private static final int WRONG_USE = 2;

  @TempDir Path folder;

  @BeforeEach
  void inputs() throws IOException {
    write("x.npy", TestTensor.random("", Dtype.F32, 0, 1, 3, 8));
    write("dy.npy", TestTensor.random("", Dtype.F32, 0, 2, 3, 8));
    write("g.npy", TestTensor.random("", Dtype.F32, 0, 3, 8));
    write("short.npy", TestTensor.random("", Dtype.F32, 0, 3, 7));
    write(
        "m.safetensors",
        TestTensor.random("a", Dtype.F32, 0, 1, 3, 8),
        TestTensor.random("b", Dtype.BF16, 0, 2, 3, 8),
        TestTensor.random("flat", Dtype.F32, 0, 2, 24),
        TestTensor.random("wide", Dtype.F64, 0, 2, 3, 8),
        TestTensor.of("ids", Dtype.I64, new double[] {1, 2}, 2));
    Files.createSymbolicLink(folder.resolve("link"), folder);
    Files.createSymbolicLink(folder.resolve("dangling.npy"), Path.of("dx.npy"));
    Files.writeString(folder.resolve("old.npy"), "old");
  }

  private void write(String name, TestTensor... tensors) throws IOException {
    TestTensor.write(folder.resolve(name), tensors);
  }

  /** {@code @} stands for the folder. */
  private String at(String text) {
    return text.replace("@", folder + "/");
  }

  private void assertError(int status, String message, String args) throws IOException {
    List<Path> before = files();
    Stream<String> words = Arrays.stream(at(args).split(" ")).filter(word -> !word.isEmpty());
    CommandResult result = CommandResult.of("gradient", words.toArray());
    assertThat(result.err().lines()).hasSize(1);
    assertThat(result.err()).startsWith("rmsnorm gradient: ").contains(at(message));
    assertThat(result.out()).isEmpty();
    assertThat(result.status()).isEqualTo(status);
    assertThat(files()).isEqualTo(before);
    assertThat(folder.resolve("old.npy")).hasContent("old");
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "@x.npy -o @dx.npy; Missing required option: '--dy=FILE[:NAME]'",
        "@x.npy --dy @dy.npy; Missing required option: '--output=OUT'",
        "@x.npy --dy @dy.npy -o= --dgain @dg.npy; OUT is empty, it must name a file",
        "@x.npy --dy= -o @dx.npy; --dy is empty, it must name a file",
        "@x.npy --dy @dy.npy -o @dx.npy --dresidual=; --dresidual is empty, it must name a file",
        "@x.npy --dy @dy.npy -o @dx.npy --dbias=; --dbias is empty, it must name a file",
        "@x.npy --dy @dy.npy -o @dx.bin; @dx.bin: the name must end in .npy or .safetensors",
        "@x.npy --dy @dy.npy -o @dx.npy --dgain @g; @g: the name must end in .npy or .safetensors",
        "@x.npy --dy @dy.npy -o @dx.npy --dtype bf16; @dx.npy: .npy has no bfloat16",
        "@x.npy --dy @dy.npy -o @dx.npy --axis 2; axis is 2, the shape [3, 8] allows -2 to 1",
        "@x.npy --dy @dy.npy -o @dx.npy --threads 0; threads is 0, it must be at least 1",
        "@x.npy --dy @dy.npy -o @dx.npy --eps -1; epsilon is -1.0, it must be finite",
        "@x.npy --dy @dy.npy -o @dx.npy --like layernorm --cast-order t5; cast order is T5, only an RMSNorm may have another than FLOAT32",
        "@x.npy --dy @dy.npy -o @dx.npy --gain @short.npy; the gain has 7 elements, the rows are 8",
        "@x.npy --dy @dy.npy -o @dx.npy --residual=; --residual is empty, it must name a file",
        "@x.npy --dy @dy.npy -o @dx.npy --residual-rounding last; --residual-rounding is last, it needs --residual",
        "@x.npy --dy @dy.npy -o @dx.npy --residual @dy.npy --residual-rounding no; expected one of [first, between, last]",
        "@x.npy --dy @dy.npy -o @dx.npy --residual-out @h.npy; there is no option '--residual-out'; did you mean --residual",
      })
  void optionsThatCannotBe(String args, String message) throws IOException {
    assertError(WRONG_USE, message, args);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "flat; is flat f32 [24], its shape must be that of the rows, [3, 8]",
        "wide; is wide f64 [3, 8], the rows are f32: both must be f64, or neither",
        "ids; is ids i64 [2], it may be f64, f32, f16 or bf16",
      })
  void gradientsThatDoNotFit(String name, String problem) throws IOException {
    assertError(
        WRONG_USE,
        "@m.safetensors: --dy " + problem,
        "@x.npy -o @dx.npy --dy @m.safetensors:" + name);
    assertError(
        WRONG_USE,
        "@m.safetensors: --dresidual " + problem,
        "@x.npy -o @dx.npy --dy @dy.npy --dresidual @m.safetensors:" + name);
    assertError(
        WRONG_USE,
        "@m.safetensors: the residual " + problem,
        "@x.npy -o @dx.npy --dy @dy.npy --residual @m.safetensors:" + name);
  }

  @Test
  void aTensorThatIsNotNamed() throws IOException {
    assertError(
        WRONG_USE,
        "@m.safetensors: has 3 tensors of rows, gradient takes one: choose it with --tensor from",
        "@m.safetensors --dy @dy.npy -o @dx.npy");
    assertError(
        WRONG_USE,
        "@m.safetensors: has 5 tensors, name one as FILE:TENSOR: a f32 [3, 8]",
        "@x.npy --dy @m.safetensors -o @dx.npy");
    assertError(
        WRONG_USE,
        "@m.safetensors: has no tensor 'c', it has a f32 [3, 8]",
        "@m.safetensors --tensor c --dy @dy.npy -o @dx.npy");
  }

  @ParameterizedTest
  @CsvSource({"a,a,f64,f32", "wide,wide,f16,f64"})
  void aTypeThatTheRowsCannotBecome(String x, String dy, String type, String of)
      throws IOException {
    assertError(
        WRONG_USE,
        "--dtype is %s, the rows are %s: both must be f64, or neither".formatted(type, of),
        "@m.safetensors --tensor %s --dy @m.safetensors:%s -o @dx.npy --dtype %s"
            .formatted(x, dy, type));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "-o @x.npy; OUT is @x.npy, X is the same file",
        "-o @dx.npy --dgain @dangling.npy; --dgain is @dangling.npy, OUT is the same file",
        "-o @link/x.npy; OUT is @link/x.npy, X is the same file",
        "-o @dy.npy; OUT is @dy.npy, --dy is the same file",
        "-o @dx.npy --dgain @dx.npy; --dgain is @dx.npy, OUT is the same file",
        "-o @dx.npy --dgain @d.npy --dbias @link/d.npy; --dbias is @link/d.npy, --dgain is the same",
        "-o @dx.npy --dgain @g.npy --gain @g.npy; --dgain is @g.npy, --gain is the same file",
        "-o @dx.npy --dbias @g.npy --bias @g.npy; --dbias is @g.npy, --bias is the same file",
        "-o @m.safetensors --dresidual @m.safetensors:a; @m.safetensors, --dresidual is the same",
        "-o @m.safetensors --residual @m.safetensors:a; OUT is @m.safetensors, --residual is the same",
        "-o @dx.npy --dgain @g.npy --residual @link/g.npy; --dgain is @g.npy, --residual is the same",
      })
  void aFileInThePlaceOfAnother(String options, String message) throws IOException {
    assertError(WRONG_USE, message, "@x.npy --force --dy @dy.npy " + options);
  }

  @Test
  void filesThatExist() throws IOException {
    String message = "@old.npy: exists already; --force replaces it";
    assertError(WRONG_USE, message, "@x.npy --dy @dy.npy -o @old.npy");
    assertError(WRONG_USE, message, "@x.npy --dy @dy.npy -o @dx.npy --dgain @old.npy");
    assertError(WRONG_USE, message, "@x.npy --dy @dy.npy -o @dx.npy --dbias @old.npy");
  }

  @Test
  void filesThatAreNotThere() throws IOException {
    assertError(FAILURE, "@none.npy: no such file", "@none.npy --dy @dy.npy -o @dx.npy");
    assertError(FAILURE, "@none.npy: no such file", "@x.npy --dy @none.npy -o @dx.npy");
    assertError(
        FAILURE, "@none.npy: no such file", "@x.npy --dy @dy.npy -o @dx.npy --residual @none.npy");
    assertError(
        FAILURE,
        "@none/dg.npy: there is no folder",
        "@x.npy --dy @dy.npy -o @dx.npy --dgain @none/dg.npy");
  }

  @Test
  void aTruncatedGradient() throws IOException {
    Path dy = folder.resolve("dy.npy");
    byte[] content = Files.readAllBytes(dy);
    Files.write(dy, Arrays.copyOf(content, content.length - 1));
    assertError(FAILURE, "@dy.npy: is truncated", "@x.npy --dy @dy.npy -o @dx.npy");
  }
}
