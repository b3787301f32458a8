package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.models.check.CheckReport;
import io.github.rmsnorm4j.models.check.Finding;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code rmsnorm check}, as a user runs it. */
class CheckCommandTest {
  private static final int WIDTH = 96;

  @TempDir Path folder;
  private Path x;
  private Path y;
  private Path gain;

  @BeforeEach
  void rows() throws IOException {
    x = TestTensor.write(file("x.npy"), small("x", Dtype.F32, 1, 20, WIDTH));
    gain = TestTensor.write(file("g.npy"), TestTensor.random("g", Dtype.F32, 1, 2, WIDTH));
    y = file("y.npy");
  }

  private Path file(String name) {
    return folder.resolve(name);
  }

  /** Rows small enough for epsilon to be seen. */
  private static TestTensor small(String name, Dtype type, long seed, long... shape) {
    double[] values = TestTensor.random(name, Dtype.F64, 0, seed, shape).values();
    return TestTensor.of(name, type, Arrays.stream(values).map(v -> v / 100).toArray(), shape);
  }

  private void normalize(String... options) {
    List<String> args = new ArrayList<>(List.of("normalize", "" + x, "-o", "" + y, "-qf"));
    args.addAll(List.of(options));
    assertThat(CommandResult.of(args.toArray(String[]::new)).status()).isZero();
  }

  private CommandResult check(String... options) {
    List<String> args = new ArrayList<>(List.of("check", "" + x, "" + y));
    args.addAll(List.of(options));
    return CommandResult.of(args.toArray(String[]::new));
  }

  @ParameterizedTest
  @CsvSource({
    "--like gemma, 'RMSNorm, float32, eps 1e-6, gain + 1'",
    "--eps 1e-5, 'RMSNorm, float32, eps 1e-5'",
    "--eps 1e-4, 'RMSNorm, float32, eps 1e-4'",
    "--like onnx, 'RMSNorm, onnx, eps 1e-5'",
    "--like paper --eps 1e-5, 'RMSNorm, float32, eps 1e-5 outside'",
    "--partial 0.0625, 'RMSNorm, float32, eps 1e-6, first 6 of 96'",
    "--like layernorm, 'LayerNorm, float32, eps 1e-5'",
    "'--like l2(eps=1e-3_inside,_groupcount=3)', 'L2 norm, float32, eps 1e-3, 3 groups of 32'",
    "--like pytorch, 'RMSNorm, float32, eps 2^-23'"
  })
  void namesTheNorm(String options, String norm) {
    String[] words = (options + " --gain " + gain).split(" ");
    normalize(
        Arrays.stream(words)
            .map(word -> word.startsWith("l2") ? word.replace("_", " ") : word)
            .toArray(String[]::new));
    CommandResult result = check("--gain", "" + gain);
    assertThat(result.status()).describedAs(result.out() + result.err()).isZero();
    assertThat(unwrapped(result))
        .contains("Y is " + norm + ": all 1,920 elements that were compared are equal.");
    assertThat(result.outLines()).allMatch(line -> line.length() <= 79);
    assertThat(result.err()).isEmpty();
  }

  /** The text that check has found makes the same file. */
  @ParameterizedTest
  @CsvSource({
    "F32, --like gemma --gain g",
    "BF16, --like llama(eps=1e-5) --gain g",
    "F16, --like onnx(eps=1e-4) --gain g",
    "BF16, --like rmsnorm(eps=1e-8) --eps-at outside --partial 0.25",
    "F16, --like layernorm(eps=1e-3) --gain g --bias b",
    "BF16, --like t5 --gain g --residual x --residual-rounding last",
    "F32, --like gemma --residual h --residual-rounding between --gain g"
  })
  void theFoundNormMakesTheSameFile(Dtype type, String options) throws IOException {
    Path h = TestTensor.write(file("h.safetensors"), small("h", Dtype.BF16, 5, 20, WIDTH));
    Path bias = TestTensor.write(file("b.npy"), TestTensor.random("b", Dtype.F32, 0, 3, WIDTH));
    x = TestTensor.write(file("x.safetensors"), small("x", type, 1, 20, WIDTH));
    y = file("y.safetensors");
    List<String> given = new ArrayList<>();
    List<String> others = new ArrayList<>();
    Map<String, Path> files = Map.of("g", gain, "b", bias, "h", h, "x", x);
    String[] words = options.split(" ");
    for (int i = 0; i < words.length; i += 2) {
      Path file = files.get(words[i + 1]);
      (file == null ? others : given)
          .addAll(List.of(words[i], file == null ? words[i + 1] : "" + file));
    }
    others.addAll(given);
    normalize(others.toArray(String[]::new));
    byte[] made = Files.readAllBytes(y);
    Path json = file("f.json");
    given.addAll(List.of("--json", "" + json));
    assertThat(check(given.toArray(String[]::new)).status()).isZero();
    Matcher spec = Pattern.compile("\"spec\" : \"(.*)\"").matcher(Files.readString(json));
    assertThat(spec.find()).isTrue();
    given.subList(given.size() - 2, given.size()).clear();
    given.addAll(List.of("--like", spec.group(1)));
    normalize(given.toArray(String[]::new));
    assertThat(y).hasBinaryContent(made);
  }

  private static String unwrapped(CommandResult result) {
    return result.out().replaceAll("\\R", " ");
  }

  @Test
  void comparesOneChangedChoice() {
    normalize("--eps", "1e-5", "--gain", "" + gain);
    String text = unwrapped(check("--gain", "" + gain));
    assertThat(text).contains("Others, each with one choice changed:");
    assertThat(text).containsPattern("RMSNorm, onnx, eps 1e-5 +1,466 +1,399 +2");
    assertThat(text.indexOf("Y is RMSNorm")).isBetween(0, text.indexOf("largest"));
    assertThat(text)
        .contains("The nearest other, RMSNorm, onnx, eps 1e-5, differs in 454 elements.")
        .contains("Here float32 is the order of PyTorch, Gemma and OLMo 2; llama is the order of");
  }

  /** A residual in bfloat16, which only safetensors files hold. */
  @ParameterizedTest
  @CsvSource({"first", "between", "last"})
  void tellsWhenTheSumIsRounded(String when) throws IOException {
    x = TestTensor.write(file("x.safetensors"), small("x", Dtype.BF16, 1, 20, WIDTH));
    Path h = TestTensor.write(file("h.safetensors"), small("h", Dtype.BF16, 5, 20, WIDTH));
    y = file("y.safetensors");
    normalize("--residual", "" + h, "--residual-rounding", when, "--eps", "1e-5");
    CommandResult result = check("--residual", "" + h);
    assertThat(result.status()).describedAs(result.out() + result.err()).isZero();
    assertThat(unwrapped(result)).contains("eps 1e-5, residual " + when);
  }

  @Test
  void saysThatNoNormMadeIt() throws IOException {
    TestTensor.write(y, TestTensor.random("y", Dtype.F32, 0, 9, 20, WIDTH));
    Path json = file("check.json");
    CommandResult result = check("--json", "" + json);
    assertThat(result.status()).isOne();
    assertThat(unwrapped(result))
        .contains("None of the norms known here made Y.")
        .contains("the norm has a gate, which is not looked for, or Y is not the output");
    assertThat(Files.readString(json)).contains("\"status\" : \"UNKNOWN\"", "\"named\" : [ ]");
  }

  @Test
  void keepsAllFigures() throws IOException {
    normalize("--eps", "1e-5");
    Path json = file("check.json");
    assertThat(check("--json", "" + json).status()).isZero();
    CheckReport report = Records.read(CheckReport.class, Files.readString(json));
    assertThat(report.rows()).isEqualTo(20);
    Finding first = report.named().getFirst();
    assertThat(first.epsilon()).isEqualTo(1e-5);
    assertThat(first.castOrders()).contains("float32", "llama");
    assertThat(first.ownEqual()).isEqualTo(first.equal()).isEqualTo(first.elements());
    assertThat(first.spec()).isEqualTo("rmsnorm(eps=1e-5)");
    assertThat(first.greatestUlp()).isZero();
  }

  /** One element is wrong, in a row that a sample leaves out. */
  @Test
  void samplesLargeFilesUnlessToldOtherwise() throws IOException {
    x = TestTensor.write(file("x.npy"), small("x", Dtype.F32, 1, 9000, WIDTH));
    normalize("--eps", "1e-5");
    double[] values = TestTensor.read(y).values();
    values[8999 * WIDTH + 5] = 1e20;
    TestTensor.write(y, TestTensor.of("y", Dtype.F32, values, 9000, WIDTH));
    CommandResult sampled = check();
    assertThat(sampled.status()).isZero();
    assertThat(unwrapped(sampled))
        .contains("2730 of 9000 rows, spread over the file (--all-rows takes all)")
        .contains("all 262,080 elements that were compared are equal");
    CommandResult all = check("--all-rows");
    assertThat(all.status()).isOne();
    assertThat(unwrapped(all))
        .doesNotContain("spread over the file")
        .contains("RMSNorm, float32, eps 1e-5 makes all but 1 of 864,000 elements.")
        .contains("in column 5 of row 8999 (counted from 0)");
  }

  @ParameterizedTest
  @CsvSource({"-2, 4x12, 48, 4 groups of 12", "-1, 3, 12, 4 groups of 3"})
  void aGainMayBeOfHeadsOrOfAGroup(String axis, String shape, int width, String groups)
      throws IOException {
    long[] lengths = Stream.of(shape.split("x")).mapToLong(Long::parseLong).toArray();
    TestTensor ofGroup = TestTensor.random("l", Dtype.F32, 0, 2, lengths);
    double[] ofRow = new double[width];
    Arrays.setAll(ofRow, i -> ofGroup.values()[i % ofGroup.values().length]);
    String rows =
        "" + TestTensor.write(file("k.npy"), TestTensor.random("k", Dtype.F32, 0, 1, 24, 4, 12));
    String whole =
        "" + TestTensor.write(file("w.npy"), TestTensor.of("w", Dtype.F32, ofRow, width));
    String like = "llama(groupcount=4)";
    String normed = "" + file("m.npy");
    CommandResult made =
        CommandResult.of(
            "normalize", rows, "--like", like, "--axis", axis, "--gain", whole, "-o", normed);
    assertThat(made.status()).as(made.err()).isZero();
    String given = "" + TestTensor.write(file("l.npy"), ofGroup);
    assertThat(CommandResult.of("check", rows, normed, "--gain", given).out())
        .startsWith("Y is RMSNorm")
        .contains(groups);
  }

  @Test
  void refusesWhatTellsNothing() throws IOException {
    normalize();
    assertWrongUse("its shape must be that of X", "check", "" + x, "" + gain);
    Path narrow = TestTensor.write(file("n.npy"), TestTensor.random("n", Dtype.F32, 0, 1, 7));
    assertWrongUse(
        "the gain has 7 elements, it must have one for each of the 96 of a row of X, or of a group",
        "check",
        "" + x,
        "" + y,
        "--gain",
        "" + narrow);
    Path scalar = TestTensor.write(file("scalar.npy"), TestTensor.random("z", Dtype.F32, 0, 1));
    assertWrongUse(
        scalar + ": X is f32 [], a scalar, it must have rows", "check", "" + scalar, "" + scalar);
    Path whole =
        TestTensor.write(file("i.safetensors"), TestTensor.of("i", Dtype.I64, new double[2], 2));
    assertWrongUse("X is i i64 [2], it may be f64", "check", "" + whole, "" + whole);
    Path ones =
        TestTensor.write(file("o.npy"), TestTensor.of("o", Dtype.F32, new double[] {1, 2}, 2, 1));
    assertWrongUse("the width is 1, it must be 2 or more", "check", "" + ones, "" + ones);
    Path flat = TestTensor.write(file("f.npy"), TestTensor.of("f", Dtype.F32, new double[4], 2, 2));
    assertWrongUse("no row can be used", "check", "" + flat, "" + flat);
    Path same = file("s.npy");
    TestTensor.write(same, TestTensor.of("s", Dtype.F32, new double[] {3, 3, 3, 3}, 2, 2));
    assertWrongUse("every element of Y is 3.0", "check", "" + same, "" + same);
    assertWrongUse("--partial is 2.0", "check", "" + x, "" + y, "--partial", "2");
  }

  private static void assertWrongUse(String message, String... args) {
    CommandResult result = CommandResult.of(args);
    assertThat(result.status()).describedAs(result.out() + result.err()).isEqualTo(2);
    assertThat(result.err()).hasLineCount(1).contains(message);
    assertThat(result.out()).isEmpty();
  }

  @Test
  void helpExplainsEveryCastOrder() {
    String help = CommandResult.of("check", "--help").out();
    for (CastOrder order : CastOrder.values()) {
      String name = order.name().toLowerCase(Locale.ROOT).replace('_', '-');
      assertThat(help).contains("\n  " + name + " ");
    }
    assertThat(help.lines()).allMatch(line -> line.length() <= 80);
  }

  /** Wider rows would take more memory than there is. */
  @Test
  void rowsThatAreTooWideAreRefused() throws IOException {
    Path wider = file("wider.npy");
    TestTensor.write(
        wider, TestTensor.of("x", Dtype.F32, new double[(1 << 20) + 1], 1, (1 << 20) + 1));
    assertWrongUse("its rows may have 1048576 elements at most", "check", "" + wider, "" + wider);
  }
}
