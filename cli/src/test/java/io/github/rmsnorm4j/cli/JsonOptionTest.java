package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.cli.testing.TestJson;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonOptionTest {
  @TempDir Path folder;
  private Path model;

  @BeforeEach
  void write() throws IOException {
    model =
        TestTensor.write(
            folder.resolve("m.safetensors"),
            Map.of("a", "b\nc"),
            TestTensor.of("h", Dtype.F16, new double[] {1, -0.5, 3, 4, Double.NaN, 0}, 3, 2),
            TestTensor.of("ids", Dtype.I64, new double[] {-5, 1L << 40}, 2),
            TestTensor.of("s", Dtype.F64, new double[] {1e-300}));
  }

  private CommandResult run(String line, String... more) {
    String words =
        line.replace("MODEL", "" + model)
            .replace("GPT2", "" + Shell.CHECKOUT.resolve("examples/tiny-gpt2"));
    return CommandResult.of(
        Stream.concat(Stream.of(words.split(" ")), Stream.of(more)).toArray(String[]::new));
  }

  /** What - prints is what a file gets, and nothing else; with a file the text stays. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "show MODEL",
        "show MODEL:h",
        "stats MODEL",
        "doctor",
        "inspect GPT2",
        "check MODEL:h MODEL:h"
      })
  void whatGoesToStandardOutputIsWhatAFileGets(String line) throws IOException {
    Path file = folder.resolve("x.json");
    CommandResult plain = run(line);
    assertThat(plain.out()).isNotEmpty();
    String told = line.startsWith("inspect") ? "--json wrote " + file + "\n" : "";
    CommandResult with = new CommandResult(plain.status(), plain.out() + told, plain.err());
    assertThat(run(line, "--json", "" + file)).isEqualTo(with);
    CommandResult json = run(line, "--json", "-");
    assertThat(json.out()).isEqualTo(Files.readString(file)).startsWith("{").endsWith("}\n");
    assertThat(json.err()).isEqualTo(plain.err());
    assertThat(json.status()).isEqualTo(plain.status());

    CommandResult again = run(line, "--json", "" + file);
    assertThat(again.status()).isEqualTo(2);
    assertThat(again.err()).contains("--json " + file + ": exists already; --force replaces it");
    assertThat(run(line, "--json", "" + file, "--force")).isEqualTo(with);
    assertThat(run(line, "--json", "" + folder.resolve("x.txt")).err())
        .contains("--json is " + folder.resolve("x.txt") + ", its name must end in .json");
  }

  /** What fails says so on standard error, and writes nothing. */
  @ParameterizedTest
  @ValueSource(
      strings = {"show MODEL:no", "stats MODEL:no", "inspect MODEL", "check MODEL:no MODEL"})
  void aFailureWritesNothing(String line) {
    Path file = folder.resolve("x.json");
    for (String to : List.of("-", "" + file)) {
      CommandResult failed = run(line, "--json", to);
      assertThat(failed.status()).isPositive();
      assertThat(failed.out()).isEmpty();
      assertThat(failed.err()).hasLineCount(1);
    }
    assertThat(file).doesNotExist();
  }

  @Test
  void showGivesWholeRows() throws IOException {
    Object list = TestJson.parsed(run("show MODEL --json -").out());
    assertThat(TestJson.<Map<?, ?>>get(list, "metadata")).isEqualTo(Map.of("a", "b\nc"));
    assertThat(TestJson.<List<?>>get(list, "tensors")).hasSize(3);
    assertThat(TestJson.<List<?>>get(list, "tensors.0.shape")).isEqualTo(List.of(3.0, 2.0));
    assertThat(TestJson.<List<?>>get(list, "tensors.0.rows")).isEmpty();

    Object rows = TestJson.parsed(run("show MODEL --rows 1: --json -").out());
    assertThat(TestJson.<Double>get(rows, "tensors.0.firstRow")).isOne();
    assertThat(TestJson.<List<?>>get(rows, "tensors.0.rows"))
        .isEqualTo(List.of(List.of(3.0, 4.0), List.of(Double.NaN, 0.0)));
    assertThat(TestJson.<List<?>>get(rows, "tensors.1.rows")).isEmpty();
    assertThat(run("show MODEL:ids --json -").out()).contains("[ -5, 1099511627776 ]");
    assertThat(run("show MODEL:s --json -").out()).contains("[ 1.0E-300 ]");

    Path wide =
        TestTensor.write(
            folder.resolve("w.npy"), TestTensor.of("", Dtype.F32, new double[1 << 20], 1024, 1024));
    CommandResult all = CommandResult.of("show", wide, "--rows", ":", "--json", "-");
    assertThat(TestJson.<List<?>>get(TestJson.parsed(all.out()), "tensors.0.rows")).hasSize(1024);
    Path more =
        TestTensor.write(
            folder.resolve("v.npy"),
            TestTensor.of("", Dtype.F32, new double[1025 << 10], 1025, 1024));
    CommandResult refused = CommandResult.of("show", more, "--rows", ":", "--json", "-");
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err())
        .contains("--json gives 1048576 elements at most", "rows 0 to 1025", "choose with --rows");
  }

  @Test
  void statsGivesAllFigures() throws IOException {
    Object stats = TestJson.parsed(run("stats MODEL --json -").out());
    Object rows = TestJson.get(stats, "tensors.0.rows");
    assertThat(TestJson.<Double>get(rows, "count")).isEqualTo(3);
    assertThat(TestJson.<Double>get(rows, "width")).isEqualTo(2);
    assertThat(TestJson.<Double>get(rows, "nonFiniteRows")).isOne();
    assertThat(TestJson.<Double>get(rows, "quantiles.RMS.greatest")).isEqualTo(Math.sqrt(12.5));
    assertThat(TestJson.<Double>get(rows, "quantiles.length.greatest")).isCloseTo(5, within(1e-12));
    assertThat(TestJson.<Double>get(rows, "quantiles.rho.least")).isCloseTo(0.1, within(1e-6));
    assertThat(TestJson.<String>get(stats, "tensors.1.problem")).contains("neither f64, f32");
    assertThat(TestJson.<Double>get(stats, "tensors.1.rows")).isNaN();
  }

  @Test
  void doctorGivesNumbersAsNumbers() throws IOException {
    Object doctor = TestJson.parsed(run("doctor --json -").out());
    assertThat(TestJson.<Double>get(doctor, "processors"))
        .isEqualTo(Runtime.getRuntime().availableProcessors());
    assertThat(TestJson.<Double>get(doctor, "heapBytes"))
        .isEqualTo(Runtime.getRuntime().maxMemory());
    assertThat(TestJson.<String>get(doctor, "kernels")).isEqualTo(Backend.best().describe());
    assertThat(TestJson.<Double>get(doctor, "vectorBits")).isEqualTo(Backend.best().vectorBits());
  }
}
