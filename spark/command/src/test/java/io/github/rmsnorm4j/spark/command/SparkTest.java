package io.github.rmsnorm4j.spark.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.Rmsnorm;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
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
    assertThat(wrongUse("--like", "lama")).contains("norm is 'lama', it may be rmsnorm, ");
    assertThat(wrongUse("--like", "layernorm", "--cast-order", "llama"))
        .contains("cast order is LLAMA, only an RMSNorm may have another than FLOAT32");
    assertThat(wrongUse("--gain-offset", "1")).contains("--gain-offset is 1.0, it needs --gain");
    assertThat(wrongUse("--threads", "2", "--master", "local"))
        .contains("--threads and --master exclude each other");
    assertThat(wrongUse("--threads", "0")).contains("--threads is 0, it must be 1 or more");
    assertThat(wrongUse("--width", "0")).contains("--width is 0, it must be 1 or more");
    assertThat(wrongUse("--handle-invalid", "drop"))
        .contains("'--handle-invalid'", "[error, keep, skip]");
    assertThat(wrongUse("--dtype", "int8")).contains("'int8', it may be f16, bf16, f32 or f64");
    assertThat(wrongUse("--show", "0")).contains("--show is 0, it must be 1 or more");
    assertThat(wrong("spark", "in")).contains("-o OUT is missing; --show 5 only looks at IN");
    assertThat(wrong("spark", "in", "-o", "out")).contains("--output needs --column NAME");
    assertThat(wrong("spark", "in", "--show", "5", "--like", "l2"))
        .contains("--like needs --column NAME");
    assertThat(wrong("spark", "in", "--show", "5", "--column", "c", "-f"))
        .contains("--force needs -o OUT");
  }

  private static String wrongUse(String... more) {
    List<String> words = new ArrayList<>(List.of("spark", "in", "-o", "out", "--column", "c"));
    words.addAll(List.of(more));
    return wrong(words.toArray(String[]::new));
  }

  private static String wrong(String... words) {
    CommandResult result = CommandResult.of(words);
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err()).hasLineCount(1);
    return result.err();
  }

  @Test
  void whatOnlyLooks() throws IOException {
    assertThat(of("in", "--show", "5", "--threads=2", "-q"))
        .isEqualTo("in --show 5 --master local[2] --progress none");
    assertThat(of("in", "--show=5", "--column=c", "--like=l2"))
        .isEqualTo("in --show 5 --column c --like l2 --progress lines");
    assertThat(arguments("--show=5"))
        .isEqualTo("in -o out --show 5 --column c --like rmsnorm --progress lines");
  }

  @Test
  void optionsBecomeParamsOfTheTransformer() throws IOException {
    assertThat(arguments("--like", "llama", "--eps", "1e-5", "--threads", "2"))
        .isEqualTo(
            "in -o out --column c --like llama(eps=1e-5) --master local[2] --progress lines");
    assertThat(arguments("--like=layernorm", "--eps-at=floor", "--dtype=f16", "--packed=bf16"))
        .isEqualTo(
            "in -o out --column c --like layernorm(eps=1e-5 floor) --packed bfloat16"
                + " --dtype float16 --progress lines");
    assertThat(
            arguments(
                "--handle-invalid=skip", "--master=spark://h:1", "--conf=a=b", "--conf=c=d", "-fq"))
        .isEqualTo(
            "in -o out --column c --like rmsnorm --handle-invalid skip --master spark://h:1"
                + " --conf a=b --conf c=d --force --progress none");
    assertThat(arguments("--like=l2", "--width=64", "--handle-invalid=keep"))
        .isEqualTo(
            "in -o out --column c --like l2 --width 64 --handle-invalid keep --progress lines");
    assertThat(arguments("--partial=0.5", "--partial-rounding=down", "--output-column=d"))
        .isEqualTo(
            "in -o out --column c --output-column d --like rmsnorm(part=1/2 down) --progress lines");
  }

  @Test
  void aGainGoesByAFileInItsOwnType() throws IOException {
    Path gain = folder.resolve("g.safetensors");
    double[] values = {1.5, -0.25, Double.NaN, Double.NEGATIVE_INFINITY};
    TestTensor.write(gain, TestTensor.of("g", Dtype.BF16, values, 4));
    List<Path> written = new ArrayList<>();

    List<String> words = parsed("--gain", gain.toString()).arguments(written);

    assertThat(words).contains("rmsnorm", "--gain", "" + written.getFirst(), "gainType=bfloat16");
    assertThat(written).hasSize(1);
    assertThat(written.getFirst()).hasContent("1.5\n-0.25\nNaN\n-Infinity\n");
    Files.delete(written.getFirst());
  }

  private static String arguments(String... more) throws IOException {
    return String.join(" ", parsed(more).arguments(new ArrayList<>()));
  }

  private static String of(String... words) throws IOException {
    return String.join(" ", command(words).arguments(new ArrayList<>()));
  }

  private static Spark parsed(String... more) {
    List<String> words = new ArrayList<>(List.of("in", "-o", "out", "--column", "c"));
    words.addAll(List.of(more));
    return command(words.toArray(String[]::new));
  }

  private static Spark command(String... words) {
    CommandLine root = Rmsnorm.commandLine();
    root.parseArgs(Stream.concat(Stream.of("spark"), Stream.of(words)).toArray(String[]::new));
    return root.getSubcommands().get("spark").getCommand();
  }

  @Test
  void whatTheJobSaysIsPassedOnWithEveryCharacterWhole() {
    String said = "x".repeat((1 << 13) - 1) + "\u00e9\u6f22 of the job\n";
    assertThat(passedOn(said)).isEqualTo(said);
    assertThat(passedOn("WARNING: Using incubator modules: jdk\n" + said)).isEqualTo(said);
  }

  private static String passedOn(String said) {
    StringWriter err = new StringWriter();
    Spark.passOn(new ByteArrayInputStream(said.getBytes(UTF_8)), UTF_8, new PrintWriter(err));
    return err.toString();
  }

  @Test
  void sparkStartsNoJvmThatHasIt() {
    StringWriter err = new StringWriter();
    CommandLine command = new CommandLine(new Spark(() -> true));
    command.setErr(new PrintWriter(err));
    command.setExecutionExceptionHandler(
        (e, line, parsed) -> {
          line.getErr().println(e.getMessage());
          return 1;
        });
    List<String> words = new ArrayList<>(List.of("in", "-o", "out", "--column", "c"));
    assertThat(command.execute(words.toArray(String[]::new))).isOne();
    assertThat(err.toString())
        .startsWith(
            "JDK " + Runtime.version() + " with the G1 collector corrupts compressed Parquet")
        .contains("JDK-8377811", "RMSNORM_OPTS=-XX:+UseParallelGC")
        .hasLineCount(1);
  }
}
