package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What the options for variants give: bit for bit what the library gives on the same rows. */
class NormalizeVariantsTest {
  private static final int WIDTH = 70;
  private static final List<Dtype> FLOATING = List.of(Dtype.F64, Dtype.F32, Dtype.F16, Dtype.BF16);

  @TempDir Path folder;

  private Path parameters;
  private TestTensor gain;

  @BeforeEach
  void parameters() throws IOException {
    gain = TestTensor.random("g", Dtype.BF16, 1, 2, WIDTH);
    TestTensor wide = TestTensor.of("g32", Dtype.F32, gain.values(), WIDTH);
    parameters = TestTensor.write(folder.resolve("p.safetensors"), gain, wide);
  }

  /** Half of them small, so that every epsilon and its place can be seen. */
  private static TestTensor rows(String name, Dtype dtype) {
    double[] values = TestTensor.random("", Dtype.F64, 0.3, 1, 40, WIDTH).values();
    for (int i = 0; i < values.length / 2; i++) {
      values[i] *= 1e-3;
    }
    return TestTensor.of(name, dtype, values, 40, WIDTH);
  }

  private static TestTensor rows(Dtype dtype) {
    return rows("x", dtype);
  }

  private TestTensor normalize(TestTensor x, String... options) throws IOException {
    Path in = TestTensor.write(folder.resolve("x.safetensors"), x);
    Path out = folder.resolve("y.safetensors");
    List<String> args = new ArrayList<>(List.of("normalize", "-q", "-f", "" + in, "-o", "" + out));
    args.addAll(List.of(options));
    assertThat(CommandResult.of(args.toArray(String[]::new)))
        .isEqualTo(new CommandResult(0, "", ""));
    return TestTensor.read(out, "x");
  }

  private String gainOption(String name) {
    return "--gain=" + parameters + ":" + name;
  }

  private static void assertGives(Norm norm, TestTensor x, TestTensor actual) {
    TestTensor expected = x.copy();
    norm.apply(x.rows(WIDTH), expected.rows(WIDTH));
    assertThat(actual.bytes()).isEqualTo(expected.bytes());
  }

  static Stream<String> presets() {
    return NormSpec.presets().stream().map(NormSpec.Preset::name);
  }

  @ParameterizedTest
  @MethodSource("presets")
  void likeGivesThePreset(String like) throws IOException {
    for (Dtype dtype : FLOATING) {
      TestTensor x = rows(dtype);
      NormBuilder<?> builder = NormSpec.parse(like).builder(WIDTH);
      assertGives(builder.build(), x, normalize(x, "--like=" + like));
      assertGives(
          builder.gain(gain.rows(WIDTH)).build(),
          x,
          normalize(x, "--like=" + like, gainOption("g")));
    }
  }

  @Test
  void likeTakesSettings() throws IOException {
    String text = "llama(eps=1e-3 outside, offset=0.5, part=1/16)";
    TestTensor x = rows(Dtype.BF16);
    Norm norm = NormSpec.parse(text).builder(WIDTH).gain(gain.rows(WIDTH)).build();
    assertGives(norm, x, normalize(x, "--like", text, gainOption("g")));
  }

  /** As torch.nn.functional.normalize has it, with zeros and a row below its floor of 1e-12. */
  @Test
  void l2GivesRowsOfLengthOne() throws IOException {
    double[] values = rows(Dtype.F64).values();
    Arrays.fill(values, 0, WIDTH, 0);
    Arrays.fill(values, WIDTH, 2 * WIDTH, 1e-15);
    for (Dtype dtype : List.of(Dtype.F64, Dtype.F32)) {
      TestTensor x = TestTensor.of("x", dtype, values, 40, WIDTH);
      double[] y = normalize(x, "--like=l2").values();
      double[] stored = x.values();
      for (int row = 0; row < 40; row++) {
        double squares = 0;
        for (int i = row * WIDTH; i < (row + 1) * WIDTH; i++) {
          squares += stored[i] * stored[i];
        }
        double length = Math.max(Math.sqrt(squares), 1e-12);
        double bound = dtype == Dtype.F64 ? 1e-15 : 2.01 * 0x1p-24;
        for (int i = row * WIDTH; i < (row + 1) * WIDTH; i++) {
          double exact = stored[i] / length;
          assertThat(y[i]).isCloseTo(exact, within(bound * Math.abs(exact)));
        }
      }
    }
  }

  /** Or the test above would pass with one norm for all. */
  @Test
  void noTwoPresetsGiveTheSame() throws IOException {
    Set<String> results = new HashSet<>();
    double[] values = rows(Dtype.F64).values();
    Arrays.setAll(values, i -> values[i] * 1e-20); // Below the floor of l2.
    TestTensor tiny = TestTensor.of("x", Dtype.F32, values, 40, WIDTH);
    for (String like : presets().toList()) {
      TestTensor y = normalize(rows(Dtype.F16), "--like=" + like, gainOption("g"));
      TestTensor ofTiny = normalize(tiny, "--like=" + like, gainOption("g"));
      String bytes = Arrays.toString(y.bytes()) + Arrays.toString(ofTiny.bytes());
      assertThat(results.add(bytes)).as(like).isTrue();
    }
  }

  /** T5 rounds to the type that the gain is stored in. */
  @Test
  void theStoredTypeOfTheGainReachesTheNorm() throws IOException {
    TestTensor x = rows(Dtype.F32);
    TestTensor narrow = normalize(x, "--like=t5", gainOption("g"));
    TestTensor wide = normalize(x, "--like=t5", gainOption("g32"));
    assertGives(RmsNorm.t5(WIDTH).gain(gain.rows(WIDTH)).build(), x, narrow);
    assertGives(RmsNorm.builder(WIDTH).gain(gain.rows(WIDTH)).build(), x, wide);
    assertThat(narrow.bytes()).isNotEqualTo(wide.bytes());
  }

  @Test
  void pytorchsEpsilonFollowsEachTensorsType() throws IOException {
    TestTensor narrow = rows("x", Dtype.F32);
    TestTensor wide = rows("z", Dtype.F64);
    Path in = TestTensor.write(folder.resolve("two.safetensors"), narrow, wide);
    Path out = folder.resolve("out.safetensors");
    CommandResult result =
        CommandResult.of("normalize", "" + in, "-o", "" + out, "--like", "pytorch");
    assertThat(result.err()).contains("2 tensors, 80 rows of 70, f32 and f64, ");
    assertGives(RmsNorm.builder(WIDTH).epsilon(0x1p-23).build(), narrow, TestTensor.read(out, "x"));
    assertGives(RmsNorm.builder(WIDTH).epsilon(0x1p-52).build(), wide, TestTensor.read(out, "z"));
  }

  @Test
  void whatIsGivenChangesThatPartOfAPreset() throws IOException {
    TestTensor x = rows(Dtype.BF16);
    assertGives(
        RmsNorm.gemma(WIDTH).gain(gain.rows(WIDTH)).gainOffset(0.5).build(),
        x,
        normalize(x, "--like=gemma", gainOption("g"), "--gain-offset=0.5"));
    assertGives(
        RmsNorm.paper(WIDTH).epsilonPlacement(EpsilonPlacement.INSIDE).build(),
        x,
        normalize(x, "--like=paper", "--eps-at=inside"));
    assertGives(
        RmsNorm.onnx(WIDTH).epsilon(1e-3).build(), x, normalize(x, "--like=onnx", "--eps=1e-3"));
    assertGives(
        RmsNorm.llama(WIDTH).part(18).build(), x, normalize(x, "--like=llama", "--partial=0.25"));
    assertGives(RmsNorm.t5(WIDTH).build(), x, normalize(x, "--like=gemma", "--cast-order=t5"));
    assertGives(
        RmsNorm.t5(WIDTH).gain(gain.rows(WIDTH)).build(),
        x,
        normalize(x, "--like=gemma", "--cast-order=t5", gainOption("g"), "--gain-offset=0"));
  }

  @ParameterizedTest
  @CsvSource({"inside,INSIDE", "outside,OUTSIDE", "floor,FLOOR"})
  void epsilonGoesWhereItIsPut(String option, EpsilonPlacement placement) throws IOException {
    TestTensor x = rows(Dtype.F32);
    assertGives(
        RmsNorm.builder(WIDTH).epsilon(1e-2).epsilonPlacement(placement).build(),
        x,
        normalize(x, "--eps=1e-2", "--eps-at=" + option));
    assertGives(
        LayerNorm.builder(WIDTH).epsilon(1e-2).epsilonPlacement(placement).build(),
        x,
        normalize(x, "--like=layernorm", "--eps=1e-2", "--eps-at=" + option));
  }

  @ParameterizedTest
  @CsvSource({"1e-9,1", "0.0625,5", "0.7,49", "0.71,50", "1,70"})
  void thePartIsRoundedUp(String partial, int part) throws IOException {
    TestTensor x = rows(Dtype.F32);
    assertGives(RmsNorm.builder(WIDTH).part(part).build(), x, normalize(x, "--partial", partial));
  }

  @ParameterizedTest
  @CsvSource({"0", "1", "-0.25"})
  void anOffsetIsAddedToTheGain(double offset) throws IOException {
    TestTensor x = rows(Dtype.F32);
    String option = "--gain-offset=" + offset;
    assertGives(
        RmsNorm.builder(WIDTH).gain(gain.rows(WIDTH)).gainOffset(offset).build(),
        x,
        normalize(x, gainOption("g"), option));
    assertGives(
        LayerNorm.builder(WIDTH).gain(gain.rows(WIDTH)).gainOffset(offset).build(),
        x,
        normalize(x, "--like=layernorm", gainOption("g"), option));
  }
}
