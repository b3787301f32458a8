package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the command hands over; the job itself has its tests in the module that it is in. */
class SparkTest {
  @TempDir Path folder;

  @Test
  void outsideACheckoutOneLineSaysWhatIsNeeded() {
    CommandResult result = CommandResult.of("spark", "in", "-o", "out", "--column", "c");
    assertThat(result.status()).isOne();
    assertThat(result.err())
        .isEqualTo(
            "rmsnorm spark: needs a checkout of rmsnorm4j, to build the job from: start ./rmsnorm"
                + " spark there\n");
  }

  @Test
  void wrongUseIsSaidBeforeAnythingIsBuilt() {
    assertThat(wrongUse("--like", "layernorm", "--cast-order", "llama"))
        .contains("cast order is LLAMA, a LayerNorm has only FLOAT32");
    assertThat(wrongUse("--gain-offset", "1")).contains("--gain-offset is 1.0, it needs --gain");
    assertThat(wrongUse("--threads", "2", "--master", "local"))
        .contains("--threads and --master exclude each other");
    assertThat(wrongUse("--threads", "0")).contains("--threads is 0, it must be 1 or more");
    assertThat(wrongUse("--handle-invalid", "drop"))
        .contains("'--handle-invalid'", "[error, keep, skip]");
    assertThat(wrongUse("--dtype", "int8")).contains("'int8', it may be f16, bf16, f32 or f64");
  }

  private static String wrongUse(String... more) {
    List<String> words = new ArrayList<>(List.of("spark", "in", "-o", "out", "--column", "c"));
    words.addAll(List.of(more));
    CommandResult result = CommandResult.of(words.toArray(String[]::new));
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err()).hasLineCount(1);
    return result.err();
  }

  @Test
  void optionsBecomeParamsOfTheTransformer() throws IOException {
    assertThat(arguments("--like", "gemma", "--eps", "1e-5", "--threads", "2"))
        .isEqualTo(
            "in -o out --column c --norm rms --set castOrder=float32 --set epsilon=1.0E-5"
                + " --set epsilonPlacement=inside --master local[2] --progress lines");
    assertThat(arguments("--like=layernorm", "--eps-at=floor", "--dtype=f16", "--packed=bf16"))
        .isEqualTo(
            "in -o out --column c --norm layer --set epsilon=1.0E-5 --set epsilonPlacement=floor --set inputType=bfloat16"
                + " --set outputType=float16 --progress lines");
    assertThat(
            arguments(
                "--handle-invalid=skip", "--master=spark://h:1", "--conf=a=b", "--conf=c=d", "-fq"))
        .isEqualTo(
            "in -o out --column c --norm rms --set castOrder=float32 --set epsilon=1.0E-6"
                + " --set epsilonPlacement=inside --set handleInvalid=skip --master spark://h:1"
                + " --conf a=b --conf c=d --force --progress none");
    assertThat(arguments("--partial=0.5", "--partial-rounding=down", "--output-column=d"))
        .isEqualTo(
            "in -o out --column c --output-column d --norm rms --set castOrder=float32"
                + " --set epsilon=1.0E-6 --set epsilonPlacement=inside --set partial=0.5"
                + " --set partialRounding=down --progress lines");
  }

  @Test
  void aGainGoesByAFileInItsOwnType() throws IOException {
    Path gain = folder.resolve("g.safetensors");
    double[] values = {1.5, -0.25, Double.NaN, Double.NEGATIVE_INFINITY};
    TestTensor.write(gain, TestTensor.of("g", Dtype.BF16, values, 4));
    List<Path> written = new ArrayList<>();

    List<String> words = parsed("--gain", gain.toString()).arguments(written);

    assertThat(words).contains("gain=@" + written.getFirst(), "gainType=bfloat16");
    assertThat(written).hasSize(1);
    assertThat(written.getFirst()).hasContent("1.5\n-0.25\nNaN\n-Infinity\n");
    Files.delete(written.getFirst());
  }

  private static String arguments(String... more) throws IOException {
    return String.join(" ", parsed(more).arguments(new ArrayList<>()));
  }

  private static Spark parsed(String... more) {
    List<String> words = new ArrayList<>(List.of("spark", "in", "-o", "out", "--column", "c"));
    words.addAll(List.of(more));
    CommandLine root = Rmsnorm.commandLine();
    root.parseArgs(words.toArray(String[]::new));
    return root.getSubcommands().get("spark").getCommand();
  }
}
