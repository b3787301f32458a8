package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code --quantize} writes: byte for byte what the library gives on the same rows. */
class QuantizeTest {
  private static final int WIDTH = 512;
  private static final int ROWS = 6;
  private static final Map<String, Quantizer> RULES =
      Map.of(
          "defaults", Quantizer.defaults(),
          "ggml-reference", Quantizer.ggmlReference(),
          "vllm", Quantizer.vllm(),
          "jlama", Quantizer.jlama());

  @TempDir Path folder;

  private CommandResult run(String... arguments) {
    return CommandResult.of(arguments);
  }

  /** What an option offers. */
  static List<String> types() {
    List<String> types = new ArrayList<>();
    new QuantizeOptions.Types().forEach(types::add);
    return types;
  }

  /** The codes of some rows, and their scales if these are apart. */
  private record Stored(MemorySegment codes, MemorySegment scales, QuantizedRows rows) {
    static Stored of(QuantizedType type, long rows, int width) {
      MemorySegment codes = MemorySegment.ofArray(new byte[(int) (rows * type.rowBytes(width))]);
      int count = type.scales(width);
      MemorySegment scales = MemorySegment.ofArray(new byte[(int) rows * count * Float.BYTES]);
      return new Stored(
          codes,
          scales,
          count == 0
              ? QuantizedRows.of(codes, type, rows, width)
              : QuantizedRows.of(codes, scales, type, rows, width));
    }
  }

  private static byte[] bytes(MemorySegment segment) {
    return (byte[]) segment.heapBase().orElseThrow();
  }

  @ParameterizedTest
  @MethodSource("types")
  void everyTypeIsWrittenAsTheLibraryGivesIt(String name) throws IOException {
    QuantizedType type = QuantizedType.ofName(name);
    Path out = folder.resolve("q.safetensors");
    for (String rule : RULES.keySet()) {
      TestTensor x = TestTensor.random("h", Dtype.BF16, 0.1, 3, 2, ROWS / 2, WIDTH);
      TestTensor other = TestTensor.random("other", Dtype.F16, 0, 4, 5);
      Path in = TestTensor.write(folder.resolve("x.safetensors"), Map.of("a", "b"), x, other);
      assertThat(
              run(
                  "normalize",
                  "-q",
                  "-f",
                  in + ":h",
                  "-o",
                  "" + out,
                  "--quantize",
                  name,
                  "--quantizer",
                  rule))
          .isEqualTo(new CommandResult(0, "", ""));

      Stored wanted = Stored.of(type, ROWS, WIDTH);
      Norm norm = RmsNorm.builder(WIDTH).quantizer(RULES.get(rule)).build();
      norm.apply(x.rows(WIDTH), null, wanted.rows());
      assertThat(TestTensor.read(out, "h").bytes()).isEqualTo(bytes(wanted.codes()));
      if (wanted.scales().byteSize() > 0) {
        TestTensor scales = TestTensor.read(out, "h.scale");
        assertThat(scales.bytes()).isEqualTo(bytes(wanted.scales()));
        assertThat(scales.tensor().shape())
            .containsExactly(2L, ROWS / 2L, (long) type.scales(WIDTH));
      }
      assertThat(TestTensor.read(out, "other")).usingRecursiveComparison().isEqualTo(other);
      try (TensorFile file = TensorFile.open(out)) {
        assertThat(file.metadata())
            .containsOnly(Map.entry("a", "b"), Map.entry("quantized.h", name));
      }
    }
  }

  /** Rows come in pieces of a few MiB. Each piece has its codes written, and then its scales. */
  @Test
  void manyPiecesAreWrittenInOrder() throws IOException {
    int rows = 3000;
    TestTensor x = TestTensor.random("h", Dtype.F32, 0, 5, rows, 1024);
    Path in = TestTensor.write(folder.resolve("x.safetensors"), x);
    Path out = folder.resolve("q.safetensors");
    assertThat(run("normalize", "-q", "" + in, "-o", "" + out, "--quantize=int8:32").status())
        .isZero();
    Stored wanted = Stored.of(QuantizedType.int8(32), rows, 1024);
    RmsNorm.builder(1024).build().apply(x.rows(1024), null, wanted.rows());
    assertThat(TestTensor.read(out, "h").bytes()).isEqualTo(bytes(wanted.codes()));
    assertThat(TestTensor.read(out, "h.scale").bytes()).isEqualTo(bytes(wanted.scales()));
  }

  @Test
  void theSumWithAResidualIsQuantisedAndWritten() throws IOException {
    TestTensor x = TestTensor.random("h", Dtype.F32, 0, 6, ROWS, WIDTH);
    TestTensor residual = TestTensor.random("r", Dtype.F32, 0, 7, ROWS, WIDTH);
    Path in = TestTensor.write(folder.resolve("x.safetensors"), x);
    Path added = TestTensor.write(folder.resolve("r.safetensors"), residual);
    Path out = folder.resolve("q.safetensors");
    Path sums = folder.resolve("s.npy");
    assertThat(
            run(
                "normalize",
                "-q",
                "" + in,
                "-o",
                "" + out,
                "--quantize=int8:row",
                "--residual=" + added,
                "--residual-out=" + sums))
        .isEqualTo(new CommandResult(0, "", ""));
    Stored wanted = Stored.of(QuantizedType.int8PerRow(), ROWS, WIDTH);
    TestTensor sum = residual.copy();
    RmsNorm.builder(WIDTH).build().addAndApply(x.rows(WIDTH), sum.rows(WIDTH), null, wanted.rows());
    assertThat(TestTensor.read(out, "h").bytes()).isEqualTo(bytes(wanted.codes()));
    assertThat(TestTensor.read(out, "h.scale").bytes()).isEqualTo(bytes(wanted.scales()));
    assertThat(TestTensor.read(sums).bytes()).isEqualTo(sum.bytes());
  }

  @Test
  void showAndStatsReadTheNumbers() throws IOException {
    double[] values = new double[2 * 32];
    Arrays.fill(values, 0, 32, 3);
    Arrays.fill(values, 32, 64, -5);
    Path in =
        TestTensor.write(
            folder.resolve("x.safetensors"), TestTensor.of("h", Dtype.F32, values, 2, 32));
    Path out = folder.resolve("q.safetensors");
    assertThat(run("normalize", "-q", "" + in, "-o", "" + out, "--quantize=int8:32").status())
        .isZero();
    assertThat(run("show", "" + out).out())
        .contains("h f32 [2, 32], stored as int8:32", "[0]", "1.0000", "[1]", "-1.0000");
    assertThat(run("stats", "" + out).out()).contains("2 rows of 32", "RMS", "1.000");
    assertThat(run("show", out + ":h", "--rows=1").out()).doesNotContain("[0]");
  }

  @Test
  void scalesThatAreNotFiniteAreCounted() throws IOException {
    double[] values = new double[4 * 64];
    Arrays.setAll(values, i -> i % 7);
    values[70] = Double.NaN;
    Path in =
        TestTensor.write(
            folder.resolve("x.safetensors"), TestTensor.of("h", Dtype.F32, values, 4, 64));
    for (String type : List.of("q8_0", "int8:32")) {
      Path out = folder.resolve("q.safetensors");
      assertThat(run("normalize", "-f", "" + in, "-o", "" + out, "--quantize", type).err())
          .contains("f32 to " + type, "; 2 scales are not finite");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "--quantize=q8_2; expected one of [q8_0, q8_1, q8_k, int8:32",
        "--quantize=f8e4m3:given; expected one of [q8_0, q8_1",
        "--quantizer=vllm; --quantizer needs --quantize",
        "--quantize=q8_0 --quantizer=fast; expected one of [defaults, ggml-reference, jlama, vllm]",
        "--quantize=q8_0 --dtype=f16; --dtype and --quantize exclude each other",
        "--quantize=q8_0 --axis=-2; --axis is -2, with --quantize it must be -1",
        "--quantize=q8_0 --like=rmsnorm(gate=silu); --like is rmsnorm(gate=silu), it needs --gate",
        "--quantize=q8_k; rows are 96 wide, for q8_k they must be a multiple of 256",
      })
  void whatIsWrongIsSaidInOneLine(String options, String message) throws IOException {
    Path in =
        TestTensor.write(
            folder.resolve("x.safetensors"), TestTensor.random("h", Dtype.F32, 0, 1, 2, 96));
    Path out = folder.resolve("q.safetensors");
    List<String> words = new ArrayList<>(List.of("normalize", "" + in, "-o", "" + out));
    words.addAll(List.of(options.split(" ")));
    CommandResult result = run(words.toArray(String[]::new));
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err().lines()).singleElement().asString().contains(message);
    assertThat(out).doesNotExist();
  }

  @Test
  void aNpyFileHoldsNoCodes() throws IOException {
    Path in =
        TestTensor.write(
            folder.resolve("x.safetensors"), TestTensor.random("h", Dtype.F32, 0, 1, 2, 96));
    CommandResult result =
        run("normalize", "" + in, "-o", folder.resolve("q.npy") + "", "--quantize=q8_0");
    assertThat(result.err()).contains("with --quantize the name must end in .safetensors");
    assertThat(folder.resolve("q.npy")).doesNotExist();
  }

  /** The commands of docs/variants.md. */
  @Test
  void commandsOfThePageRun() throws IOException {
    TestTensor.write(folder.resolve("x.npy"), TestTensor.random("", Dtype.F32, 0, 1, 2, 256));
    String page = Files.readString(Shell.CHECKOUT.resolve("docs/variants.md"));
    List<String> commands =
        Pattern.compile("`\\./rmsnorm (normalize [^`]*--quantize [^`]*)`")
            .matcher(page)
            .results()
            .map(found -> found.group(1))
            .toList();
    assertThat(commands).hasSizeGreaterThan(2);
    for (String command : commands) {
      String[] words =
          Arrays.stream(command.split(" "))
              .map(
                  word -> word.matches(".*\\.(npy|safetensors)") ? "" + folder.resolve(word) : word)
              .toArray(String[]::new);
      CommandResult result = run(words);
      assertThat(result.status()).as("%s: %s", command, result.err()).isZero();
      Files.delete(folder.resolve("q.safetensors"));
    }
  }
}
