package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.cuda.testing.StubGpu;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code normalize --device cuda} writes the file that {@code --device cpu} writes. */
@Isolated // A JVM has one library of the driver.
class NormalizeOnGpuTest {
  private static final int WIDTH = 70;
  private static final int ROWS = 37;
  private static final List<Dtype> FLOATING = List.of(Dtype.F64, Dtype.F32, Dtype.F16, Dtype.BF16);

  @TempDir Path folder;

  private StubGpu gpu;
  private Path out;

  @BeforeEach
  void files() throws IOException {
    gpu = new StubGpu();
    out = folder.resolve("y.safetensors");
    TestTensor.write(
        folder.resolve("x.safetensors"),
        tensor("f64", Dtype.F64, 1),
        tensor("f32", Dtype.F32, 2),
        tensor("f16", Dtype.F16, 3),
        tensor("bf16", Dtype.BF16, 4),
        TestTensor.random("wide", Dtype.F32, 0, 5, 3, 2, 1100),
        TestTensor.random("none", Dtype.F32, 0, 6, 0, WIDTH),
        TestTensor.random("left", Dtype.I64, 0, 7, 5));
    TestTensor.write(
        folder.resolve("p.safetensors"),
        TestTensor.random("g", Dtype.BF16, 1, 8, WIDTH),
        TestTensor.random("b", Dtype.F32, 0, 9, WIDTH));
  }

  private static TestTensor tensor(String name, Dtype dtype, long seed) {
    return TestTensor.random(name, dtype, 0.3, seed, ROWS, WIDTH);
  }

  @AfterEach
  void noGpu() throws IOException {
    if (gpu != null) { // else skipped
      gpu.close();
    }
  }

  /** The names of files that are written begin with OUT. */
  private CommandResult normalize(String device, String in, String options) {
    List<String> arguments = new ArrayList<>(List.of("normalize", in, "--device=" + device));
    arguments.addAll(List.of("-f", "-o", "" + out));
    Stream.of(options.split(" "))
        .filter(option -> !option.isEmpty())
        .map(option -> option.replace("FOLDER", "" + folder))
        .forEach(arguments::add);
    CommandResult result = CommandResult.of(arguments.toArray(String[]::new));
    gpu.rethrow();
    return result;
  }

  private void assertSameBytes(String in, String options) throws IOException {
    Path sums = folder.resolve("sums.safetensors");
    List<byte[]> ofCpu = new ArrayList<>();
    CommandResult cpu = normalize("cpu", in, options);
    assertThat(cpu.status()).as(cpu.err()).isZero();
    for (Path file : List.of(out, sums)) {
      ofCpu.add(Files.exists(file) ? Files.readAllBytes(file) : new byte[0]);
      Files.deleteIfExists(file);
    }
    gpu.launches();
    CommandResult result = normalize("cuda", in, options);
    assertThat(result.status()).as(result.err()).isZero();
    assertThat(result.err()).contains("device 0 (");
    assertThat(gpu.launches()).isPositive();
    assertThat(gpu.leaks()).isEmpty();
    assertThat(Files.readAllBytes(out)).as(options).isEqualTo(ofCpu.getFirst());
    byte[] added = Files.exists(sums) ? Files.readAllBytes(sums) : new byte[0];
    assertThat(added).as(options).isEqualTo(ofCpu.getLast());
  }

  private String in(Dtype dtype) {
    return folder.resolve("x.safetensors") + ":" + dtype.name().toLowerCase(Locale.ROOT);
  }

  @Test
  void allTensorsOfAFileGoToTheGpuAndTheOthersStay() throws IOException {
    assertSameBytes("" + folder.resolve("x.safetensors"), "");
    assertSameBytes("" + folder.resolve("x.safetensors"), "--dtype=bf16 --like=layernorm");
  }

  static Stream<String> options() {
    return Stream.of(
        "--like=layernorm --gain=FOLDER/p.safetensors:g --bias=FOLDER/p.safetensors:b",
        "--like=gemma --gain=FOLDER/p.safetensors:g --eps=1e-3",
        "--like=llama --gain=FOLDER/p.safetensors:g --dtype=f32",
        "--like=l2 --dtype=f16",
        "--cast-order=onnx --eps-at=outside --partial=0.25",
        "--like=rmsnorm(groupcount=7) --gain=FOLDER/p.safetensors:g");
  }

  @ParameterizedTest
  @MethodSource("options")
  void optionsGiveTheSameBytes(String options) throws IOException {
    for (Dtype dtype : FLOATING) {
      assertSameBytes(in(dtype), options);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"first", "between", "last"})
  void residualsAreAddedThereAndComeBack(String rounding) throws IOException {
    TestTensor.write(folder.resolve("h.safetensors"), tensor("h", Dtype.BF16, 10));
    String options =
        "--residual=FOLDER/h.safetensors --residual-rounding=" + rounding + " --dtype=f32";
    assertSameBytes(in(Dtype.BF16), options);
    assertSameBytes(in(Dtype.F32), options + " --residual-out=FOLDER/sums.safetensors");
  }

  @Test
  void gatesGoThere() throws IOException {
    TestTensor.write(folder.resolve("z.npy"), tensor("", Dtype.F16, 11));
    assertSameBytes(in(Dtype.F32), "--like=llama(gate=silu) --gate=FOLDER/z.npy");
  }

  static Stream<String> quantized() {
    return Stream.of(
        "--quantize=int8:row",
        "--quantize=int8:32 --like=layernorm",
        "--quantize=f8e4m3:32 --quantizer=vllm --like=rmsnorm(groupcount=12)",
        "--quantize=f8e5m2:row --residual=FOLDER/x.safetensors:h --residual-out=FOLDER/sums.safetensors");
  }

  /** Codes and scales, also those that a second kernel makes of blocks with several groups. */
  @ParameterizedTest
  @MethodSource("quantized")
  void codesHaveTheSameBytes(String options) throws IOException {
    TestTensor.write(
        folder.resolve("x.safetensors"),
        TestTensor.random("x", Dtype.F32, 0.3, 13, ROWS, 96),
        TestTensor.random("h", Dtype.F16, 0.3, 14, ROWS, 96));
    String x = folder.resolve("x.safetensors") + ":x";
    assertSameBytes(x, options);
    gpu.memory(8000);
    assertSameBytes(x, options);
  }

  /** Two rows to a piece, so that each of the two pieces is filled again and again. */
  @Test
  void littleMemoryMakesPiecesSmall() throws IOException {
    gpu.memory(16 * WIDTH * Float.BYTES);
    TestTensor.write(folder.resolve("h.npy"), tensor("", Dtype.F32, 12));
    assertSameBytes(
        in(Dtype.F32), "--residual=FOLDER/h.npy --residual-out=FOLDER/sums.safetensors");
    normalize("cuda", in(Dtype.F32), "");
    assertThat(gpu.launches()).isGreaterThan(4);
  }

  @Test
  void tooLittleMemoryForARowIsSaid() {
    gpu.memory(100);
    assertFails(
        "cuda",
        "",
        1,
        "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2), meaning of 2: 280 bytes are asked for, 100 are"
            + " free, on device 0 (Stub GPU A)");
  }

  @Test
  void aKernelThatFailsIsNamedAndNothingIsWritten() {
    gpu.failKernel(700);
    CommandResult result = normalize("cuda", in(Dtype.F32), "");
    assertThat(result.status()).isOne();
    assertThat(result.err()).contains("RmsNorm.apply(37 x 70 float32)").hasLineCount(1);
    assertThat(out).doesNotExist();
    assertThat(folder).isDirectoryNotContaining("glob:**.tmp");
  }

  @Test
  void aDeviceWithOtherResultsIsFound() {
    gpu.idle();
    for (String options : new String[] {"", "--dtype=bf16", "--quantize=int8:row"}) {
      assertFails("cuda", options, 1, "device 0 (Stub GPU A) gives other rows than the processor");
    }
    assertThat(folder).isDirectoryNotContaining("glob:**.tmp");
  }

  @Test
  void devicesAreChosenByNumber() throws IOException {
    assertThat(normalize("cuda:0", in(Dtype.F32), "").err()).contains("device 0 (");
    Files.delete(out);
    assertFails("cuda:7", "", 2, "--device is cuda:7, it may be cuda:0");
    assertFails("gpu", "", 2, "expected cpu, cuda or cuda:N, with N from 0 on, but was 'gpu'");
  }

  @Test
  void optionsOfTheProcessorAreRefused() {
    assertFails(
        "cuda", "--threads=2", 2, "--threads is 2, --device is cuda: a GPU has threads of its own");
    assertFails(
        "cuda",
        "--quantize=q8_0",
        2,
        "--quantize is q8_0, --device is cuda: no kernel for GPUs writes blocks of ggml");
  }

  @Test
  void withoutADriverTheReasonIsSaid() {
    System.setProperty("rmsnorm4j.cuda.library", "" + folder.resolve("none.so"));
    assertFails("cuda:1", "", 1, "--device is cuda:1, which cannot be used: ");
    assertFails(
        "cuda", "", 1, "none.so cannot be loaded: it comes with the driver of an NVIDIA GPU");
  }

  private void assertFails(String device, String options, int status, String message) {
    CommandResult result = normalize(device, in(Dtype.F32), options);
    assertThat(result.status()).as(result.err()).isEqualTo(status);
    assertThat(result.err()).contains(message).hasLineCount(1);
    assertThat(out).doesNotExist();
    assertThat(gpu.leaks()).isEmpty();
  }
}
