package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShowTest {
  @TempDir Path folder;

  private Path model() throws IOException {
    return TestTensor.write(
        folder.resolve("m.safetensors"),
        Map.of("a", "b"),
        TestTensor.of("h", Dtype.F16, new double[] {1, -0.5, Double.NaN, 0}, 2, 2),
        TestTensor.of("ids", Dtype.I64, new double[] {-5, 1L << 40}, 2),
        TestTensor.of("s", Dtype.F64, new double[] {1e-300}));
  }

  @Test
  void listsAFileOfSeveralTensors() throws IOException {
    assertThat(CommandResult.of("show", model().toString()).outLines())
        .containsExactly("h f16 [2, 2]", "ids i64 [2]", "s f64 []", "1 entry of metadata");
  }

  @Test
  void printsTheRowsOfATensor() throws IOException {
    assertThat(CommandResult.of("show", model() + ":h").outLines())
        .containsExactly(
            "h f16 [2, 2]", //
            "    [0]      1.0000    -0.50000",
            "    [1]         NaN         0.0");
    assertThat(CommandResult.of("show", model() + ":ids").outLines())
        .containsExactly("ids i64 [2]", "    [0]          -5 1099511627776");
    assertThat(CommandResult.of("show", model() + ":s").outLines())
        .containsExactly("s f64 []", "    [0] 1.0000e-300");
  }

  @Test
  void aTensorIsChosenByAnOptionAsWell() throws IOException {
    String file = model().toString();
    assertThat(CommandResult.of("show", file, "--tensor", "h"))
        .isEqualTo(CommandResult.of("show", file + ":h"));
    assertThat(CommandResult.of("show", file, "--tensor", "s", "--tensor", "ids").outLines())
        .containsExactly(
            "s f64 []", "    [0] 1.0000e-300", "ids i64 [2]", "    [0]          -5 1099511627776");
    CommandResult both = CommandResult.of("show", file + ":h", "--tensor", "s");
    assertThat(both.status()).isEqualTo(2);
    assertThat(both.err())
        .contains("--tensor is s, and " + file + ":h names a tensor too: give one of the two")
        .hasLineCount(1);
  }

  @Test
  void anEmptyNameIsWrongUse() {
    for (String command : new String[] {"show", "stats"}) {
      CommandResult result = CommandResult.of(command, "");
      assertThat(result.status()).isEqualTo(2);
      assertThat(result.err()).contains(": FILE is empty, it must name a file").hasLineCount(1);
    }
  }

  @Test
  void whatCannotBeReadIsNamed() {
    Path memory = Path.of("/proc/self/mem");
    assumeThat(memory).exists();
    CommandResult result = CommandResult.of("show", memory.toString());
    assertThat(result.status()).isOne();
    assertThat(result.err()).startsWith("rmsnorm show: " + memory + ": cannot be read: ");
  }

  @Test
  void printsTheEndsOfAWideRow() throws IOException {
    double[] values = IntStream.range(0, 16).asDoubleStream().toArray();
    Path path =
        TestTensor.write(folder.resolve("x.npy"), TestTensor.of("", Dtype.F32, values, 2, 8));
    assertThat(CommandResult.of("show", path.toString(), "--rows", "1").outLines())
        .containsExactly(
            "f32 [2, 8]",
            "    [1]      8.0000      9.0000      10.000  ...      14.000      15.000");
    Path five =
        TestTensor.write(folder.resolve("y.npy"), TestTensor.of("", Dtype.F32, new double[5], 5));
    assertThat(CommandResult.of("show", five.toString()).outLines().getLast())
        .isEqualTo("    [0]" + "         0.0".repeat(5));
  }

  @ParameterizedTest
  @CsvSource({
    "0:4,0,4",
    ":,0,10",
    ":3,0,3",
    "8:,8,10",
    "-2:,8,10",
    "-4:-2,6,8",
    "3,3,4",
    "-1,9,10",
    "5:100,5,10",
    "7:5,7,5",
    "100:,10,10",
    "-100:1,0,1"
  })
  void understandsRangesAsPythonDoes(String text, long from, long to) {
    RowRange range = RowRange.parse(text);
    assertThat(range.from(10)).isEqualTo(from);
    assertThat(range.to(10)).isEqualTo(to);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "1:b", "1:2:3", "1.5", "99999999999999999999"})
  void refusesOtherRanges(String text) throws IOException {
    CommandResult result = CommandResult.of("show", model().toString(), "--rows", text);
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err())
        .startsWith(
            "rmsnorm show: --rows: '" + text + "' is no range of rows such as 0:4, 10: or -4:");
  }

  @Test
  void rowsOfNoWidthAreNotPrinted() throws IOException {
    Path path =
        TestTensor.write(
            folder.resolve("e.npy"), TestTensor.of("", Dtype.F32, new double[0], 1L << 40, 0));
    assertThat(CommandResult.of("show", path.toString(), "--rows", ":").outLines())
        .containsExactly("f32 [1099511627776, 0]");
  }

  @Test
  void stopsOnceItsReaderHasGone() throws IOException {
    Path path =
        TestTensor.write(
            folder.resolve("n.npy"), TestTensor.of("", Dtype.F32, new double[100_000], 100_000, 1));
    AtomicInteger refused = new AtomicInteger();
    Writer gone =
        new Writer() {
          @Override
          public void write(char[] text, int offset, int length) throws IOException {
            refused.incrementAndGet();
            throw new IOException("Broken pipe");
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    PrintWriter out =
        new PrintWriter(gone) {
          private int lines;

          @Override
          public void println(Object line) {
            assertThat(++lines).isLessThan(10_000);
            super.println(line);
          }
        };
    int status = Rmsnorm.commandLine().setOut(out).execute("show", path.toString(), "--rows", ":");
    assertThat(status).isZero();
    assertThat(refused).hasPositiveValue();
  }

  @Test
  void hostileNamesDoNotReachTheTerminal() throws IOException {
    Path path =
        TestTensor.write(
            folder.resolve("m.safetensors"),
            TestTensor.of("\u001b[2J\n", Dtype.F32, new double[] {1}, 1),
            TestTensor.of("b", Dtype.F32, new double[] {1}, 1));
    assertThat(CommandResult.of("show", path.toString()).outLines())
        .containsExactly("\\u{1b}[2J\\n f32 [1]", "b f32 [1]");
  }
}
