package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.reference.Definitions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class NormalizeTest {
  @TempDir Path folder;

  private Path out(String name) {
    return folder.resolve(name);
  }

  private static CommandResult run(Object... args) {
    return CommandResult.of(Arrays.stream(args).map(Object::toString).toArray(String[]::new));
  }

  /** Runs the command, which must succeed without a word. */
  private static void normalize(Object... args) {
    Object[] all = new Object[args.length + 2];
    all[0] = "normalize";
    all[1] = "-q";
    System.arraycopy(args, 0, all, 2, args.length);
    assertThat(run(all)).isEqualTo(new CommandResult(0, "", ""));
  }

  private static void assertRows(
      double[] actual, double[] x, int width, NormSpec spec, double[] gain, double[] bias) {
    double eps = spec.epsilon().orElseThrow();
    assertThat(actual).hasSameSizeAs(x);
    for (int row = 0; row < x.length; row += width) {
      double[] one = Arrays.copyOfRange(x, row, row + width);
      double[] expected =
          spec.kind() == NormSpec.Kind.RMS_NORM
              ? Definitions.rmsNorm(one, gain, bias, eps)
              : Definitions.layerNorm(one, gain, bias, eps);
      assertThat(Arrays.copyOfRange(actual, row, row + width))
          .describedAs("row %d", row / width)
          .containsExactly(expected, within(2e-6));
    }
  }

  private static Stream<NormSpec> norms() {
    return Stream.of(NormSpec.RMSNORM, NormSpec.LAYERNORM);
  }

  @ParameterizedTest
  @MethodSource("norms")
  void normalizesAsDefined(NormSpec spec) throws IOException {
    TestTensor x = TestTensor.random("", Dtype.F32, 0.5, 1, 50, 37);
    TestTensor gain = TestTensor.random("g", Dtype.F16, 1, 2, 37);
    TestTensor bias = TestTensor.random("b", Dtype.F64, 0, 3, 37);
    Path in = TestTensor.write(out("x.npy"), x);
    Path parameters = TestTensor.write(out("p.safetensors"), gain, bias);
    Path biasAlone = TestTensor.write(out("b.npy"), bias);

    normalize(in, "-o", out("plain.npy"), "--like", spec);
    assertRows(TestTensor.read(out("plain.npy")).values(), x.values(), 37, spec, null, null);

    normalize(
        in, "-o", out("y.npy"), "--like", spec, "--gain", parameters + ":g", "--bias", biasAlone);
    assertRows(
        TestTensor.read(out("y.npy")).values(), x.values(), 37, spec, gain.values(), bias.values());
  }

  @Test
  void addsTheEpsilonThatIsGiven() throws IOException {
    Path in = TestTensor.write(out("x.npy"), TestTensor.of("", Dtype.F64, new double[] {3, 4}, 2));
    normalize(in, "-o", out("zero.npy"), "--eps", 0);
    assertThat(TestTensor.read(out("zero.npy")).values())
        .containsExactly(new double[] {3 / Math.sqrt(12.5), 4 / Math.sqrt(12.5)}, within(1e-15));
    normalize(in, "-o", out("y.npy"), "--eps", 12.5);
    assertThat(TestTensor.read(out("y.npy")).values())
        .containsExactly(new double[] {0.6, 0.8}, within(1e-15));
  }

  @ParameterizedTest
  @CsvSource({"-1,7", "2,7", "-2,35", "1,35", "-3,140", "0,140"})
  void normalizesFromAnAxisOn(int axis, int width) throws IOException {
    TestTensor x = TestTensor.random("", Dtype.F32, 1, 4, 4, 5, 7);
    normalize(TestTensor.write(out("x.npy"), x), "-o", out("y.npy"), "--axis", axis);
    TestTensor y = TestTensor.read(out("y.npy"));
    assertThat(y.tensor().shape()).containsExactly(4L, 5L, 7L);
    assertRows(y.values(), x.values(), width, NormSpec.RMSNORM, null, null);
  }

  @Test
  void aGainMayHaveTheShapeOfTheAxes() throws IOException {
    TestTensor x = TestTensor.random("", Dtype.F32, 1, 4, 4, 5, 7);
    TestTensor gain = TestTensor.random("", Dtype.F32, 1, 5, 5, 7);
    Path in = TestTensor.write(out("x.npy"), x);
    Path parameter = TestTensor.write(out("g.npy"), gain);
    normalize(in, "-o", out("y.npy"), "--axis", "-2", "--gain", parameter);
    double[] y = TestTensor.read(out("y.npy")).values();
    assertRows(y, x.values(), 35, NormSpec.RMSNORM, gain.values(), null);
  }

  @ParameterizedTest
  @CsvSource({
    "f16,F16", "float16,F16", "half,F16", "torch.float16,F16", "bf16,BF16", "bfloat16,BF16",
    "torch.bfloat16,BF16", "f32,F32", "float,F32", "FLOAT32,F32", "f64,F64", "double,F64"
  })
  void writesTheTypeThatIsNamed(String name, Dtype dtype) throws IOException {
    TestTensor x = TestTensor.random("x", Dtype.F32, 0, 6, 3, 8);
    Path in = TestTensor.write(out("x.safetensors"), x);
    normalize(in, "-o", out("y.safetensors"), "--dtype", name);
    TestTensor y = TestTensor.read(out("y.safetensors"), "x");
    assertThat(y.tensor().dtype()).isEqualTo(dtype);
    double precision = dtype == Dtype.BF16 ? 0.01 : 0.001;
    double[] expected = Definitions.rmsNorm(Arrays.copyOf(x.values(), 8), null, null, 1e-6);
    assertThat(Arrays.copyOf(y.values(), 8)).containsExactly(expected, within(precision));
  }

  @ParameterizedTest
  @EnumSource(
      value = Dtype.class,
      names = {"F64", "F32", "F16", "BF16"})
  void keepsTheTypeOfTheInput(Dtype dtype) throws IOException {
    Path in = TestTensor.write(out("x.safetensors"), TestTensor.random("x", dtype, 0, 6, 3, 8));
    normalize(in, "-o", out("y.safetensors"));
    assertThat(TestTensor.read(out("y.safetensors"), "x").tensor().dtype()).isEqualTo(dtype);
  }

  /** The same numbers in every order that NumPy knows give the same file. */
  @Test
  void readsEitherByteOrderAndFortranOrder() throws IOException {
    TestTensor x = TestTensor.random("", Dtype.F32, 0, 7, 3, 5, 8);
    normalize(TestTensor.write(out("x.npy"), x), "-o", out("y.npy"));
    byte[] expected = Files.readAllBytes(out("y.npy"));
    for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
      Files.write(out("f.npy"), fortran(x.values(), order, 3, 5, 8));
      normalize(out("f.npy"), "-o", out("g.npy"), "--force");
      assertThat(out("g.npy")).hasBinaryContent(expected);
    }
  }

  private static byte[] fortran(double[] values, ByteOrder order, int a, int b, int c) {
    String literal =
        "{'descr': '%sf4', 'fortran_order': True, 'shape': (%d, %d, %d), }"
            .formatted(order == ByteOrder.BIG_ENDIAN ? ">" : "<", a, b, c);
    ByteBuffer out = ByteBuffer.allocate(10 + literal.length() + 4 * a * b * c);
    out.put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (byte) literal.length(), 0});
    out.put(literal.getBytes()).order(order);
    for (int k = 0; k < c; k++) {
      for (int j = 0; j < b; j++) {
        for (int i = 0; i < a; i++) {
          out.putFloat((float) values[(i * b + j) * c + k]);
        }
      }
    }
    return out.array();
  }

  /** More than one piece, of rows that do not divide one, on any number of threads. */
  @Test
  void piecesAndThreadsChangeNothing() throws IOException {
    int width = 3001;
    TestTensor x = TestTensor.random("", Dtype.F16, 0, 8, 1500, width);
    Path in = TestTensor.write(out("x.npy"), x);
    normalize(in, "-o", out("1.npy"), "--threads", 1, "--dtype", "f32");
    normalize(in, "-o", out("3.npy"), "--threads", 3, "--dtype", "f32");
    double[] y = TestTensor.read(out("1.npy")).values();
    assertThat(out("3.npy")).hasBinaryContent(Files.readAllBytes(out("1.npy")));
    for (int row = 0; row < 1500; row += 499) {
      int at = row * width;
      assertRows(
          Arrays.copyOfRange(y, at, at + width),
          Arrays.copyOfRange(x.values(), at, at + width),
          width,
          NormSpec.RMSNORM,
          null,
          null);
    }
  }

  /** Gains and biases in a model: normalised they would be lost, and nobody would see it. */
  @Test
  void tensorsOfOneAxisAreLeftAsTheyAreUnlessTheyAreNamed() throws IOException {
    TestTensor x = TestTensor.random("x", Dtype.F32, 1, 4, 3, 8);
    TestTensor gain = TestTensor.random("g", Dtype.F32, 1, 5, 8);
    Path in = TestTensor.write(out("m.safetensors"), x, gain);
    CommandResult result =
        CommandResult.of("normalize", in.toString(), "-o", out("y.safetensors").toString());
    assertThat(result.err()).contains("1 tensor of one axis left as it is (--tensor chooses)");
    assertThat(TestTensor.read(out("y.safetensors"), "g").values()).isEqualTo(gain.values());
    assertRows(
        TestTensor.read(out("y.safetensors"), "x").values(),
        x.values(),
        8,
        NormSpec.RMSNORM,
        null,
        null);

    normalize(in + ":g", "-o", out("z.safetensors"));
    assertRows(
        TestTensor.read(out("z.safetensors"), "g").values(),
        gain.values(),
        8,
        NormSpec.RMSNORM,
        null,
        null);
    assertThat(TestTensor.read(out("z.safetensors"), "x").values()).isEqualTo(x.values());
    normalize(in, "-o", out("again.safetensors"), "--tensor", "g");
    assertThat(out("again.safetensors")).hasBinaryContent(Files.readAllBytes(out("z.safetensors")));
  }

  /** Scales of tensors, a loss, a marker. */
  @ParameterizedTest
  @ValueSource(strings = {"", "0", "0,8", "3,0", "2,0,8"})
  void scalarsAndTensorsWithoutElementsBesideRowsStayAsTheyAre(String shape) throws IOException {
    long[] axes =
        Stream.of(shape.split(","))
            .filter(Predicate.not(String::isEmpty))
            .mapToLong(Long::parseLong)
            .toArray();
    TestTensor x = TestTensor.random("x", Dtype.F32, 1, 4, 3, 8);
    TestTensor beside = TestTensor.random("scale", Dtype.F64, 1, 5, axes);
    Path in = TestTensor.write(out("m.safetensors"), beside, x);
    Path gains = TestTensor.write(out("g.npy"), TestTensor.random("", Dtype.F32, 1, 6, 8));
    normalize(in, "-o", out("y.safetensors"), "--dtype", "f16", "--gain", gains);
    TestTensor y = TestTensor.read(out("y.safetensors"), "scale");
    assertThat(y.tensor()).isEqualTo(beside.tensor());
    assertThat(y.bytes()).isEqualTo(beside.bytes());
    normalize(in + ":x", "-o", out("x.npy"), "--dtype", "f16", "--gain", gains);
    assertThat(TestTensor.read(out("y.safetensors"), "x").bytes())
        .isEqualTo(TestTensor.read(out("x.npy")).bytes());

    Path dy = TestTensor.write(out("dy.npy"), TestTensor.random("", Dtype.F32, 0, 7, 3, 8));
    CommandResult gradient = CommandResult.of("gradient", in, "--dy", dy, "-o", out("dx.npy"));
    assertThat(gradient.err()).contains("3 rows of 8");
    assertThat(gradient.status()).isZero();
  }

  @Test
  void aRateIsSaidOnlyOfMuchData() throws IOException {
    Path small = TestTensor.write(out("s.npy"), TestTensor.random("", Dtype.F32, 0, 1, 4, 8));
    Path large = TestTensor.write(out("l.npy"), TestTensor.random("", Dtype.F32, 0, 1, 512, 512));
    assertThat(CommandResult.of("normalize", "" + small, "-o", "" + out("a.npy")).err())
        .containsPattern("\\d s\\R$")
        .doesNotContain("GB/s");
    assertThat(CommandResult.of("normalize", "" + large, "-o", "" + out("b.npy")).err())
        .containsPattern("\\d s, \\S+ GB/s read and written\\R$");
  }

  @Test
  void emptyTensorsStayEmpty() throws IOException {
    Path in = TestTensor.write(out("x.npy"), TestTensor.of("", Dtype.F32, new double[0], 0, 8));
    normalize(in, "-o", out("y.npy"));
    assertThat(TestTensor.read(out("y.npy")).tensor().shape()).containsExactly(0L, 8L);
    for (String end : List.of(".npy", ".safetensors")) {
      String name = end.equals(".npy") ? "" : "e";
      Path narrow =
          TestTensor.write(out("e" + end), TestTensor.of(name, Dtype.F32, new double[0], 4, 0));
      CommandResult result = CommandResult.of("normalize", "" + narrow, "-o", "" + out("z" + end));
      assertThat(result.err()).contains("no row has an element; written as it is");
      assertThat(out("z" + end)).hasSameBinaryContentAs(narrow);
    }
  }

  @Test
  void whatIsNotChosenPassesThrough() throws IOException {
    TestTensor a = TestTensor.random("a", Dtype.F32, 0, 9, 3, 8);
    TestTensor ids = TestTensor.of("ids", Dtype.I64, new double[] {5, 6, 7}, 3);
    TestTensor b = TestTensor.random("b", Dtype.BF16, 0, 10, 4);
    TestTensor c = TestTensor.random("c", Dtype.F32, 0, 11, 3, 8);
    Map<String, String> metadata = Map.of("format", "pt", "\u00e9", "\"\n");
    Path in = TestTensor.write(out("x.safetensors"), metadata, a, ids, b, c);
    Path out = out("y.safetensors");
    normalize(in, "-o", out, "--tensor", "c", "--tensor", "a", "--dtype", "f16", "--tensor", "c");
    try (TensorFile file = TensorFile.open(out)) {
      assertThat(file.metadata()).isEqualTo(metadata);
      assertThat(file.tensors())
          .containsExactly(
              a.tensor().as(Dtype.F16), ids.tensor(), b.tensor(), c.tensor().as(Dtype.F16));
    }
    assertThat(TestTensor.read(out, "ids").bytes()).isEqualTo(ids.bytes());
    assertThat(TestTensor.read(out, "b").bytes()).isEqualTo(b.bytes());
    double[] expected = Definitions.rmsNorm(Arrays.copyOf(c.values(), 8), null, null, 1e-6);
    assertThat(Arrays.copyOf(TestTensor.read(out, "c").values(), 8))
        .containsExactly(expected, within(0.001));
  }

  @Test
  void withoutANameAllFloatingTensorsAreNormalized() throws IOException {
    TestTensor a = TestTensor.random("a", Dtype.F32, 0, 9, 3, 8);
    TestTensor ids = TestTensor.of("ids", Dtype.I64, new double[] {5, 6, 7}, 3);
    TestTensor b = TestTensor.random("b", Dtype.F16, 0, 10, 1, 4);
    Path in = TestTensor.write(out("x.safetensors"), a, ids, b);
    CommandResult result = run("normalize", in, "-o", out("y.safetensors"));
    assertThat(result.err())
        .startsWith(out("y.safetensors") + ": 2 tensors, 4 rows of 4 to 8, f32 and f16, ");
    assertRows(
        TestTensor.read(out("y.safetensors"), "a").values(),
        a.values(),
        8,
        NormSpec.RMSNORM,
        null,
        null);
    assertThat(TestTensor.read(out("y.safetensors"), "b").bytes()).isNotEqualTo(b.bytes());
    assertThat(TestTensor.read(out("y.safetensors"), "ids").bytes()).isEqualTo(ids.bytes());
  }

  @Test
  void goesFromOneFormatToTheOther() throws IOException {
    TestTensor x = TestTensor.random("", Dtype.F32, 0, 12, 3, 8);
    Path npy = TestTensor.write(out("acts.npy"), x);
    normalize(npy, "-o", out("y.safetensors"));
    assertThat(TestTensor.read(out("y.safetensors"), "acts").tensor().shape())
        .containsExactly(3L, 8L);
    TestTensor other = TestTensor.random("other", Dtype.F32, 0, 13, 3);
    TestTensor named = TestTensor.of("x", Dtype.F32, x.values(), 3, 8);
    Path two = TestTensor.write(out("two.safetensors"), Map.of("a", "b"), named, other);
    normalize(two, "-o", out("y.npy"), "--tensor", "x");
    normalize(npy, "-o", out("z.npy"));
    assertThat(out("y.npy")).hasBinaryContent(Files.readAllBytes(out("z.npy")));
  }

  @Test
  void replacesItsInputIfForced() throws IOException {
    TestTensor x = TestTensor.random("", Dtype.F32, 0, 12, 3, 8);
    Path in = TestTensor.write(out("x.npy"), x);
    CommandResult refused = run("normalize", in, "-o", in);
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err()).contains(in + ": exists already; --force replaces it");
    assertThat(TestTensor.read(in).bytes()).isEqualTo(x.bytes());
    normalize(in, "-o", in, "--force");
    assertRows(TestTensor.read(in).values(), x.values(), 8, NormSpec.RMSNORM, null, null);
  }

  @Test
  void saysInOneLineWhatWasDone() throws IOException {
    Path in = TestTensor.write(out("x.npy"), TestTensor.random("", Dtype.F32, 0, 1, 5, 8));
    CommandResult result = run("normalize", in, "-o", out("y.npy"), "--dtype", "f16");
    assertThat(result.status()).isZero();
    assertThat(result.out()).isEmpty();
    assertThat(result.err())
        .matches(
            "\\S*y\\.npy: 5 rows of 8, f32 to f16, rmsnorm, plain Java \\(few elements\\),"
                + " \\d+\\.\\d\\d s\\R");
  }

  @ParameterizedTest
  @ValueSource(strings = {"l2", "layernorm", "pytorch", "llama(eps=1e-5)"})
  void theLineNamesTheNorm(String norm) throws IOException {
    Path in = TestTensor.write(out("x.npy"), TestTensor.random("", Dtype.F32, 0, 1, 5, 8));
    CommandResult result = run("normalize", in, "-o", out("y.npy"), "--like", norm);
    assertThat(result.err()).contains(": 5 rows of 8, f32, " + norm + ", plain Java");
  }

  @Test
  void countsWhatIsNotFinite() throws IOException {
    double[] values = new double[40];
    Arrays.fill(values, 1);
    values[3] = Double.NaN;
    values[17] = Double.POSITIVE_INFINITY;
    Path in = TestTensor.write(out("x.npy"), TestTensor.of("", Dtype.F32, values, 5, 8));
    CommandResult result = run("normalize", in, "-o", out("y.npy"));
    long expected =
        Arrays.stream(TestTensor.read(out("y.npy")).values())
            .filter(y -> !Double.isFinite(y))
            .count();
    assertThat(expected).isEqualTo(9); // NaN spreads over its row, infinity over infinity is NaN
    assertThat(result.err())
        .endsWith("; 9 output elements are not finite" + System.lineSeparator());
  }

  /** A width without rows costs nothing to claim, so it must cost nothing to be told. */
  @Test
  void noRowsOfAGreatWidthTakeNoMemory() throws IOException {
    Path in = TestTensor.write(out("e.npy"), emptyRows(""));
    normalize(in, "-o", out("y.npy"), "--dtype", "f16");
    assertThat(TestTensor.read(out("y.npy")).tensor().shape()).containsExactly(0L, 2147483647L);
    CommandResult stats = run("stats", in.toString());
    assertThat(stats.status()).isZero();
    assertThat(stats.out()).contains("0 rows of 2147483647", "There is no row to tell by.");
  }

  private static TestTensor emptyRows(String name) {
    return TestTensor.of(name, Dtype.F32, new double[0], 0, Integer.MAX_VALUE);
  }

  /**
   * Made of two pairs of letters of one hash: 2^15 names, or 2^18 with {@code tests.all}, which a
   * map without order would hang on.
   */
  @Test
  void namesOfOneHashAreToldApart() throws IOException {
    int letters = Boolean.getBoolean("tests.all") ? 18 : 15;
    TestTensor[] tensors = new TestTensor[1 << letters];
    for (int i = 0; i < tensors.length; i++) {
      StringBuilder name = new StringBuilder();
      for (int bit = 0; bit < letters; bit++) {
        name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      tensors[i] = TestTensor.of(name.toString(), Dtype.F32, new double[0], 0, 1);
    }
    Path in = out("m.safetensors");
    TensorWriter.create(
            in, Arrays.stream(tensors).map(TestTensor::tensor).toList(), Map.of(), false)
        .commit();
    normalize(in, "-o", out("y.safetensors"));
    try (TensorFile file = TensorFile.open(out("y.safetensors"))) {
      assertThat(file.tensors()).hasSize(tensors.length);
    }
  }

  @Test
  void aTensorWhoseNameIsEmptyKeepsIt() throws IOException {
    Path in =
        TestTensor.write(
            out("m.safetensors"),
            TestTensor.of("", Dtype.F32, new double[] {1, 2}, 2),
            TestTensor.of("a", Dtype.F32, new double[] {1, 2}, 2));
    normalize(in, "-o", out("y.safetensors"), "--tensor", "a");
    assertThat(TestTensor.read(out("y.safetensors"), "").values()).containsExactly(1, 2);
  }

  @Test
  void anArgumentThatBeginsWithAnAtSignIsNotReplacedByAFilesContent() throws IOException {
    Path arguments = Files.writeString(out("arguments"), "--version");
    CommandResult result = run("@" + arguments);
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err()).contains("@" + arguments);
  }
}
