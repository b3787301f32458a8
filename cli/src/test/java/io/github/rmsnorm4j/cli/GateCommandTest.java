package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code rmsnorm normalize} and {@code gradient} with {@code --gate} give the library's bits. */
class GateCommandTest {
  /** More rows than normalize has in memory at a time. */
  private static final int ROWS = 4000;

  private static final int WIDTH = 320;

  @TempDir static Path folder;

  @BeforeAll
  static void files() throws IOException {
    write("x", Dtype.F32, 1, ROWS, WIDTH);
    write("z", Dtype.F16, 2, ROWS, WIDTH);
    write("dy", Dtype.F32, 3, ROWS, WIDTH);
    write("g", Dtype.F32, 4, WIDTH);
    write("h", Dtype.F32, 5, ROWS, WIDTH);
    write("short", Dtype.F32, 6, ROWS - 1, WIDTH);
    write("doubles", Dtype.F64, 7, ROWS, WIDTH);
  }

  private static void write(String name, Dtype type, long seed, long... shape) throws IOException {
    TestTensor.write(folder.resolve(name + ".npy"), TestTensor.random("", type, 0, seed, shape));
  }

  private byte[] bytes(String file, String tensor) throws IOException {
    return TestTensor.read(folder.resolve(file), tensor).bytes();
  }

  private Rows rows(String name, ElementType type) throws IOException {
    return Rows.of(MemorySegment.ofArray(bytes(name + ".npy", "")), type, ROWS, WIDTH);
  }

  private static Rows empty() {
    return Rows.of(
        MemorySegment.ofArray(new byte[4 * ROWS * WIDTH]), ElementType.FLOAT32, ROWS, WIDTH);
  }

  private static byte[] bytes(Rows rows) {
    return (byte[]) rows.segment().heapBase().orElseThrow();
  }

  private Norm norm(String like) throws IOException {
    Rows gain = Rows.of(MemorySegment.ofArray(bytes("g.npy", "")), ElementType.FLOAT32, 1, WIDTH);
    return NormSpec.parse(like).builder(WIDTH).gain(gain).build();
  }

  private CommandResult run(String command) {
    String[] words = command.split(" ");
    for (int i = 0; i < words.length; i++) {
      boolean file = words[i].endsWith(".npy") || words[i].endsWith(".safetensors");
      words[i] = file ? folder.resolve(words[i]).toString() : words[i].replace('~', ' ');
    }
    return CommandResult.of(words);
  }

  @ParameterizedTest
  @CsvSource({"llama(gate=silu)", "layernorm(gate=sigmoid)", "rmsnorm(gate=silu before)"})
  void normalizeAndGradient(String like) throws IOException {
    String with = " --gain g.npy --gate z.npy --like " + like.replace(' ', '~');
    CommandResult result = run("normalize x.npy -f -o y.npy" + with);
    assertThat(result.status()).as(result.err()).isZero();
    assertThat(result.err()).contains("4000 rows of 320, f32, gate f16, ");
    Norm norm = norm(like);
    Rows y = empty();
    Saved saved = new Saved(Keep.INPUT, ROWS);
    norm.applyGated(rows("x", ElementType.FLOAT32), rows("z", ElementType.FLOAT16), y, saved);
    assertThat(bytes("y.npy", "")).isEqualTo(bytes(y));

    Rows dx = empty();
    Rows dz = empty();
    float[] dgain = new float[WIDTH];
    norm.backwardGated(
        rows("dy", ElementType.FLOAT32), saved, dx, dz, ParameterGradients.assigned(dgain, null));
    result = run("gradient x.npy -f --dy dy.npy -o dx.npy --dz dz.npy --dgain dg.npy" + with);
    assertThat(result.status()).as(result.err()).isZero();
    assertThat(result.err()).contains("x f32, gate f16, dy f32, dx f32");
    assertThat(bytes("dx.npy", "")).isEqualTo(bytes(dx));
    assertThat(bytes("dz.npy", "")).isEqualTo(bytes(dz));
    assertThat(bytes("dg.npy", "")).isEqualTo(bytesOf(dgain));
    result = run("gradient x.npy -f --dy dy.npy -o alone.npy" + with);
    assertThat(result.status()).as(result.err()).isZero();
    assertThat(bytes("alone.npy", "")).isEqualTo(bytes(dx));
  }

  private static byte[] bytesOf(float[] row) {
    return MemorySegment.ofArray(row).toArray(ValueLayout.JAVA_BYTE);
  }

  @ParameterizedTest
  @CsvSource({"q8_0", "int8:32"})
  void quantized(String type) throws IOException {
    CommandResult result =
        run(
            "normalize x.npy -f -o q.safetensors --gain g.npy --gate z.npy --like llama(gate=silu) --quantize "
                + type);
    assertThat(result.status()).as(result.err()).isZero();
    QuantizedType as = QuantizedType.ofName(type);
    MemorySegment codes = MemorySegment.ofArray(new byte[(int) (ROWS * as.rowBytes(WIDTH))]);
    MemorySegment scales = MemorySegment.ofArray(new byte[4 * ROWS * as.scales(WIDTH)]);
    QuantizedRows q =
        as.scales(WIDTH) == 0
            ? QuantizedRows.of(codes, as, ROWS, WIDTH)
            : QuantizedRows.of(codes, scales, as, ROWS, WIDTH);
    norm("llama(gate=silu)")
        .applyGated(rows("x", ElementType.FLOAT32), rows("z", ElementType.FLOAT16), null, q);
    assertThat(bytes("q.safetensors", "x")).isEqualTo(codes.heapBase().orElseThrow());
    if (as.scales(WIDTH) > 0) {
      assertThat(bytes("q.safetensors", "x.scale")).isEqualTo(scales.heapBase().orElseThrow());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "normalize x.npy -o never.npy --gate z.npy; z.npy, --like is rmsnorm and has no gate: it must have one, as rmsnorm(gate=silu)",
        "normalize x.npy -o never.npy --like llama(gate=silu); --like is llama(gate=silu), it needs --gate",
        "normalize x.npy -o never.npy --like llama(gate=silu) --gate=; --gate is empty, it must name a file",
        "normalize x.npy -o never.npy --like llama(gate=silu) --gate short.npy; short.npy: the gate is f32 [3999, 320], its shape must be that of the rows, [4000, 320]",
        "normalize x.npy -o never.npy --like llama(gate=silu) --gate doubles.npy; doubles.npy: the gate is f64 [4000, 320], the rows are f32: both must be f64, or neither",
        "normalize x.npy -o never.npy --like llama(gate=silu) --gate z.npy --residual h.npy; --residual and --gate were given: a norm with a gate takes no residual",
        "gradient x.npy --dy dy.npy -o never.npy --gate z.npy; z.npy, --like is rmsnorm and has no gate",
        "gradient x.npy --dy dy.npy -o never.npy --like llama(gate=silu); --like is llama(gate=silu), it needs --gate",
        "gradient x.npy --dy dy.npy -o never.npy --dz dz.npy; dz.npy, it needs --gate",
        "gradient x.npy --dy dy.npy -o never.npy --like llama(gate=silu) --gate short.npy; its shape must be that of the rows",
        "gradient x.npy --dy dy.npy -o never.npy --like llama(gate=silu) --gate z.npy --residual h.npy; --residual and --gate were given",
        "gradient x.npy --dy dy.npy -o never.npy --like llama(gate=silu) --gate z.npy --dresidual h.npy; --dresidual and --gate were given",
        "gradient x.npy --dy dy.npy -o never.npy --like llama(gate=silu) --gate z.npy --dz never.npy; --dz",
        "gradient x.npy --dy dy.npy -o never.npy --like llama(gate=silu) --gate z.npy --dz z.npy --force; --dz"
      })
  void whatIsWrongIsSaidInOneLine(String command, String message) {
    CommandResult result = run(command);
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err().lines()).singleElement().asString().contains(message.strip());
    assertThat(result.out()).isEmpty();
    assertThat(folder.resolve("never.npy")).doesNotExist();
  }

  @Test
  void theResultMayTakeThePlaceOfTheRows() throws IOException {
    Rows y = empty();
    norm("llama(gate=silu)")
        .applyGated(rows("x", ElementType.FLOAT32), rows("z", ElementType.FLOAT16), y);
    Files.copy(folder.resolve("x.npy"), folder.resolve("same.npy"));
    CommandResult result =
        run(
            "normalize same.npy -o same.npy --force --gain g.npy --gate z.npy --like llama(gate=silu)");
    assertThat(result.status()).as(result.err()).isZero();
    assertThat(bytes("same.npy", "")).isEqualTo(bytes(y));
  }
}
