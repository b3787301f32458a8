package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.models.check.CheckReport;
import io.github.rmsnorm4j.models.check.QuantizedFinding;
import io.github.rmsnorm4j.models.check.QuantizedReport;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code rmsnorm check} of codes and scales, as {@code normalize --quantize} writes them. */
class CheckQuantizedTest {
  private static final int WIDTH = 512;
  private static final int ROWS = 20;

  @TempDir Path folder;
  private Path x;
  private Path y;
  private Path gain;

  @BeforeEach
  void rows() throws IOException {
    y = file("y.safetensors");
    gain = TestTensor.write(file("g.npy"), TestTensor.random("g", Dtype.F32, 1, 2, WIDTH));
    x = TestTensor.write(file("x.safetensors"), withTies(Dtype.F32));
  }

  private Path file(String name) {
    return folder.resolve(name);
  }

  /** Rows so small that epsilon is seen; without a gain many elements are between two codes. */
  private static TestTensor withTies(Dtype type) {
    return TestTensor.of("h", type, ties(), ROWS, WIDTH);
  }

  private static double[] ties() {
    Random random = new Random(3);
    double[] values = new double[ROWS * WIDTH];
    Arrays.setAll(
        values,
        i -> (i % 32 == 5 ? 127 : random.nextInt(-127, 127) + 0.5) * 0x1p-14 * (1 + i / WIDTH));
    return values;
  }

  private void normalize(Path to, String... options) {
    List<String> args = new ArrayList<>(List.of("normalize", x + ":h", "-o", "" + to, "-qf"));
    args.addAll(List.of(options));
    CommandResult result = CommandResult.of(args.toArray(String[]::new));
    assertThat(result.status()).describedAs(result.err()).isZero();
  }

  private CommandResult check(String... options) {
    List<String> args = new ArrayList<>(List.of("check", x + ":h", "" + y));
    args.addAll(List.of(options));
    return CommandResult.of(args.toArray(String[]::new));
  }

  private QuantizedReport report(int status, String... options) throws IOException {
    Path json = file("f.json");
    List<String> args = new ArrayList<>(List.of(options));
    args.addAll(List.of("--json", "" + json, "-f"));
    CommandResult result = check(args.toArray(String[]::new));
    assertThat(result.status()).describedAs(result.out() + result.err()).isEqualTo(status);
    return Records.read(QuantizedReport.class, Files.readString(json));
  }

  private static String unwrapped(CommandResult result) {
    return result.out().replaceAll("\\R", " ");
  }

  /** What it finds is among the rules, and makes the same file. */
  @ParameterizedTest
  @CsvSource({
    "F32, q8_0, defaults, --eps 1e-5",
    "F32, q8_0, ggml-reference, --like gemma --gain g",
    "F32, q8_1, vllm, --like layernorm --gain g",
    "F32, q8_k, defaults, --eps 1e-5 --gain g",
    "F16, int8:32, jlama, --like layernorm --gain g --bias b",
    "F32, int8:32, jlama, --eps 1e-5 --gain g",
    "F32, int8:row, ggml-reference, --partial 0.25",
    "BF16, q8_0, vllm, --like llama(eps=1e-5) --gain g",
    "F16, int8:row, vllm, --like llama(eps=1e-5) --gain g",
    "BF16, int8:128, defaults, --like gemma --gain g",
    "BF16, f8e4m3:128, vllm, --like llama(eps=1e-5) --gain g",
    "F64, f8e5m2:row, defaults, --eps 1e-5",
    "F32, f8e4m3:row, defaults, --eps 1e-5 --residual x --gain g"
  })
  void findsTheNormAndTheRule(Dtype dtype, String type, String rule, String options)
      throws IOException {
    x = TestTensor.write(file("x.safetensors"), withTies(dtype));
    List<String> given = new ArrayList<>();
    List<String> others = new ArrayList<>(List.of("--quantize", type));
    Map<String, Path> files = Map.of("g", gain, "b", gain, "x", x);
    String[] words = options.split(" ");
    for (int i = 0; i < words.length; i += 2) {
      Path named = files.get(words[i + 1]);
      (named == null ? others : given)
          .addAll(List.of(words[i], named == null ? words[i + 1] : "" + named));
    }
    others.addAll(given);
    List<String> all = new ArrayList<>(others);
    all.addAll(List.of("--quantizer", rule));
    normalize(y, all.toArray(String[]::new));

    QuantizedReport report = report(0, given.toArray(String[]::new));
    assertThat(report.type()).isEqualTo(type);
    assertThat(report.named()).isNotEmpty().allMatch(f -> f.rules().contains(rule));
    QuantizedFinding first = report.named().getFirst();
    assertThat(first.equalCodes()).isEqualTo(first.codes()).isEqualTo(ROWS * WIDTH);
    assertThat(first.equalScales()).isEqualTo(first.scales());
    assertThat(report.others())
        .noneMatch(f -> f.equalCodes() == f.codes() && f.equalScales() == f.scales());
    Path again = file("again.safetensors");
    for (QuantizedFinding found : report.named().subList(0, Math.min(3, report.named().size()))) {
      List<String> made = new ArrayList<>(given);
      made.addAll(List.of("--like", found.spec(), "--quantize", type, "--quantizer", rule));
      normalize(again, made.toArray(String[]::new));
      assertThat(again).hasSameBinaryContentAs(y);
    }
  }

  /** On rows with ties each rule has codes of its own; vLLM's is that of ARM for float32 rows. */
  @ParameterizedTest
  @CsvSource({
    "q8_0, defaults, defaults",
    "q8_0, ggml-reference, ggml-reference",
    "q8_0, jlama, jlama",
    "q8_0, vllm, 'vllm, llama.cpp on ARM'",
    "int8:64, defaults, defaults",
    "int8:64, ggml-reference, ggml-reference",
    "q8_k, jlama, 'defaults, ggml-reference, jlama, vllm, llama.cpp on ARM'",
    "f8e4m3:32, vllm, 'defaults, ggml-reference, jlama, vllm, llama.cpp on ARM'"
  })
  void tellsRulesApart(String type, String rule, String found) throws IOException {
    normalize(y, "--eps", "1e-5", "--quantize", type, "--quantizer", rule);
    QuantizedReport report = report(0);
    assertThat(report.named()).allMatch(each -> each.rulesText().equals(found));
    if (!found.contains("jlama, vllm")) {
      QuantizedFinding other = report.others().getFirst();
      assertThat(other.norm()).isEqualTo(report.named().getFirst().norm());
      assertThat(other.equalScales()).isEqualTo(other.scales());
      assertThat(other.equalCodes()).isLessThan(other.codes());
    }
  }

  @Test
  void saysItInSentences() {
    normalize(y, "--eps", "1e-5", "--quantize", "int8:32", "--quantizer", "jlama");
    CommandResult result = check();
    assertThat(result.status()).isZero();
    assertThat(unwrapped(result))
        .contains("Y is h f32 [20, 512], stored as int8:32")
        .contains("Y is int8:32 of RMSNorm, float32, eps 1e-5 by the rule jlama")
        .contains("10,240 codes and 320 scales that were compared are all equal")
        .contains(
            "normalize --like 'rmsnorm(eps=1e-5)' --quantize int8:32 --quantizer jlama computes"
                + " these bytes.")
        .contains("The nearest other, RMSNorm, float32, eps 1e-5 by the rule");
    assertThat(result.outLines()).allMatch(line -> line.length() <= 79);
    assertThat(result.err()).isEmpty();
  }

  /** What stands for the codes of a file in another, with one byte changed. */
  private void change(String name, int at, int by) throws IOException {
    TestTensor codes = TestTensor.read(y, "h");
    TestTensor scales = TestTensor.read(y, "h.scale");
    (name.equals("h") ? codes : scales).bytes()[at] += (byte) by;
    TestTensor.write(y, Map.of("quantized.h", "int8:32"), codes, scales);
  }

  @Test
  void aChangedCodeIsNotExact() throws IOException {
    normalize(y, "--eps", "1e-5", "--quantize", "int8:32");
    assertThat(report(0).status()).isNotEqualTo(CheckReport.Status.UNKNOWN);
    change("h", 7, -1);
    QuantizedReport report = report(1);
    assertThat(report.status()).isEqualTo(CheckReport.Status.UNKNOWN);
    assertThat(report.named()).isEmpty();
    assertThat(report.verdict())
        .contains("None of the norms known here made Y.")
        .contains(
            "The best, RMSNorm, float32, eps 1e-5 by the rule defaults, makes 10,239 of 10,240 codes and 320 of 320 scales.")
        .anyMatch(sentence -> sentence.startsWith("Codes differ by 1 at most"));
    change("h", 7, -1);
    assertThat(report(1).others().getFirst().largestStep()).isEqualTo(2);
  }

  @Test
  void aChangedScaleIsNotExact() throws IOException {
    normalize(y, "--eps", "1e-5", "--quantize", "int8:32");
    change("h.scale", 4 * 319, 1);
    assertThat(report(1).verdict())
        .contains(
            "The best, RMSNorm, float32, eps 1e-5 by the rule defaults, makes 10,240 of 10,240 codes and 319 of 320 scales.")
        .anyMatch(sentence -> sentence.startsWith("Only scales differ"));
  }

  /** A row whose scales are NaN, and what made the other rows. */
  @ParameterizedTest
  @ValueSource(strings = {"int8:32", "q8_0", "q8_1", "q8_k"})
  void scalesThatAreNaNAreCountedAndNamed(String type) throws IOException {
    double[] values = ties();
    Arrays.fill(values, 3 * WIDTH, 4 * WIDTH, Double.NaN);
    x = TestTensor.write(file("x.safetensors"), TestTensor.of("h", Dtype.F32, values, ROWS, WIDTH));
    normalize(y, "--eps", "1e-5", "--quantize", type);
    x = TestTensor.write(file("x.safetensors"), withTies(Dtype.F32));
    int blocks = WIDTH / (type.equals("q8_k") ? 256 : 32);
    assertThat(report(1).verdict())
        .contains("None of the norms known here made Y.")
        .contains(
            "%,d of %,d scales that were compared are NaN in Y, the first in row 3 (counted from 0)."
                .formatted(blocks, ROWS * blocks));
    normalize(y, "--eps", "1e-5", "--quantize", type);
    assertThat(report(0).verdict()).noneMatch(sentence -> sentence.contains("NaN"));
  }

  @Test
  void allRulesMakeTheSameBytesOfQ8K() throws IOException {
    String sentence =
        "For q8_k, rules differ only in whether they first round the output to the type of X.";
    normalize(y, "--eps", "1e-5", "--quantize", "q8_k");
    assertThat(report(0).verdict())
        .contains("These rules make the same bytes of these rows.", sentence);
    normalize(y, "--eps", "1e-5", "--quantize", "f8e4m3:32");
    assertThat(report(0).verdict())
        .contains("These rules make the same bytes of these rows.")
        .doesNotContain(sentence);
  }

  @Test
  void anEpsilonOfNoTableIsNotNamed() throws IOException {
    normalize(y, "--eps", "3e-5", "--quantize", "int8:row");
    assertThat(report(1).named()).isEmpty();
  }

  @Test
  void rowsAreSampledWithTheirScales() throws IOException {
    x =
        TestTensor.write(
            file("x.safetensors"), TestTensor.random("h", Dtype.F32, 0, 1, 3, 1100, 256));
    for (String type : List.of("q8_k", "int8:128")) {
      normalize(y, "--eps", "1e-3", "--quantize", type);
      QuantizedReport report = report(0);
      assertThat(report.rows()).isEqualTo(1024);
      assertThat(report.width()).isEqualTo(256);
      assertThat(unwrapped(check())).contains("1024 of 3300 rows, spread over the file");
    }
  }

  private void assertWrongUse(String message, String... options) {
    CommandResult result = check(options);
    assertThat(result.status()).describedAs(result.out() + result.err()).isEqualTo(2);
    assertThat(result.err()).hasLineCount(1).contains(message);
    assertThat(result.out()).isEmpty();
  }

  @Test
  void whatIsWrongIsSaidInOneLine() throws IOException {
    normalize(y, "--quantize", "int8:32");
    TestTensor codes = TestTensor.read(y, "h");
    TestTensor scales = TestTensor.read(y, "h.scale");
    TestTensor.write(x, TestTensor.random("h", Dtype.F32, 0, 1, ROWS, WIDTH / 2));
    assertWrongUse(": Y is h f32 [20, 512], its shape must be that of X, [20, 256]");
    TestTensor.write(x, withTies(Dtype.F32));
    Arrays.fill(codes.bytes(), (byte) 0);
    TestTensor.write(y, Map.of("quantized.h", "int8:32"), codes, scales);
    assertWrongUse("every code of Y is 0, that tells nothing");
    TestTensor.write(y, codes, scales);
    assertWrongUse("has 2 tensors, name one");
  }

  @ParameterizedTest
  @CsvSource({"q8_0", "int8:64", "f8e4m3:given", "'a\u001b[2J'", "''"})
  void metadataThatIsWrongIsSaidInOneLine(String type) throws IOException {
    normalize(y, "--quantize", "int8:32");
    TestTensor codes = TestTensor.read(y, "h");
    TestTensor scales = TestTensor.read(y, "h.scale");
    TestTensor.write(y, Map.of("quantized.h", type), codes, scales);
    CommandResult result = check();
    assertThat(result.status()).isPositive();
    assertThat(result.err()).hasLineCount(1).doesNotContain("\u001b").contains("h is");
    assertThat(result.out()).isEmpty();
  }
}
