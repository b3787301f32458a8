package io.github.rmsnorm4j.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Times;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** PyTorch is not here: a shell takes its place, and this library computes its answers. */
class TorchTest {
  private static final String HELLO = "echo ok torch 9.9 on a GPU; ";
  private static final String ANSWERS =
      "while read -r what rest; do "
          + "if [ $what = answer ]; then cp \"$0/../right\" \"$1/out\"; echo ok;"
          + " else echo \"$rest\" >\"$0/../asked\"; echo ok 3.5 1.5 2.5; fi; done";

  private static final int ROWS = 16;

  @TempDir Path folder;

  private Torch shell(String script) {
    return Torch.start(List.of("sh", "-c", script, folder.resolve("x").toString()));
  }

  private static Contest contest(Contest.Job job) {
    return new Contest(NormSpec.Kind.RMS_NORM, job, ElementType.BFLOAT16, 48);
  }

  private static Optional<Times> time(Torch torch) {
    return torch.time(contest(Contest.Job.FORWARD), 1000, 3, 12, 5);
  }

  @Test
  void rightAnswersAreTimed() throws IOException {
    Files.createDirectory(folder.resolve("x"));
    answer(contest(Contest.Job.FORWARD), 1);
    try (Torch torch = shell(HELLO + ANSWERS)) {
      assertThat(torch.text()).isEqualTo("torch 9.9 on a GPU");
      assertThat(time(torch)).contains(new Times("torch", null, List.of(3.5, 1.5, 2.5)));
      assertThat(folder.resolve("asked"))
          .hasContent("FORWARD RMS_NORM BFLOAT16 1000 48 1.0E-6 3 12 5\n");
    }
  }

  @Test
  void aWrongAnswerIsSaidAndNotTimed() throws IOException {
    Files.createDirectory(folder.resolve("x"));
    answer(contest(Contest.Job.FORWARD), 1.02);
    try (Torch torch = shell(HELLO + ANSWERS)) {
      assertThat(time(torch).orElseThrow().refused())
          .matches("its answer is wrong by [12]\\.\\de-02, 1\\.2e-02 is allowed");
    }
    Files.write(folder.resolve("right"), new byte[7]);
    try (Torch torch = shell(HELLO + ANSWERS)) {
      assertThat(time(torch).orElseThrow().refused())
          .isEqualTo("its answer has 7 bytes, it must have 1536");
    }
  }

  /** The answer of this library, times a factor. */
  private void answer(Contest contest, double factor) throws IOException {
    Path rows = Files.createDirectories(folder.resolve("rows"));
    new TorchAnswer(contest, rows).wrong((what, of, count, more) -> "failed as planned");
    ElementType type = contest.type();
    byte[] y = new byte[ROWS * contest.width() * type.bytes()];
    norm(contest, rows).apply(read(contest, rows, "x"), rows(contest, y));
    MemorySegment made = MemorySegment.ofArray(y);
    for (int i = 0; i < ROWS * contest.width(); i++) {
      type.set(made, i, factor * type.get(made, i));
    }
    Files.write(folder.resolve("right"), y);
  }

  private static Norm norm(Contest contest, Path folder) throws IOException {
    MemorySegment gain = MemorySegment.ofArray(Files.readAllBytes(folder.resolve("gain")));
    Rows row = Rows.of(gain, contest.type(), 1, contest.width());
    return contest.kind() == NormSpec.Kind.LAYER_NORM
        ? NormSpec.LAYERNORM.builder(contest.width()).gain(row).bias(row).build()
        : NormSpec.RMSNORM.builder(contest.width()).gain(row).build();
  }

  private static Rows read(Contest contest, Path folder, String name) throws IOException {
    return rows(contest, Files.readAllBytes(folder.resolve(name)));
  }

  private static Rows rows(Contest contest, byte[] bytes) {
    MemorySegment memory = MemorySegment.ofArray(bytes);
    return Rows.of(memory, contest.type(), ROWS, contest.width());
  }

  /**
   * Each job has its own definition: this library's answer is right, and a little more is wrong.
   */
  @ParameterizedTest
  @EnumSource(Contest.Job.class)
  void theDefinitionIsThatOfTheJob(Contest.Job job) throws IOException {
    for (NormSpec.Kind kind : List.of(NormSpec.Kind.RMS_NORM, NormSpec.Kind.LAYER_NORM)) {
      Contest contest = new Contest(kind, job, ElementType.FLOAT32, 40);
      assertThat(wrong(contest, 0)).isNull();
      for (int tensor = 0; tensor < tensors(job); tensor++) {
        assertThat(wrong(contest, 1 + tensor * ROWS * 40)).startsWith("its answer is wrong by ");
      }
    }
  }

  private static int tensors(Contest.Job job) {
    return job == Contest.Job.RESIDUAL || job == Contest.Job.BACKWARD_GAIN ? 2 : 1;
  }

  /** What is said of this library's answer, one element of which, counted from 1, is changed. */
  private String wrong(Contest contest, int changed) throws IOException {
    return new TorchAnswer(contest, folder)
        .wrong(
            (what, of, count, more) -> {
              try {
                byte[] out = out(contest);
                if (changed > 0) {
                  MemorySegment floats = MemorySegment.ofArray(out);
                  double value = contest.type().get(floats, changed - 1L);
                  contest.type().set(floats, changed - 1L, value + 0.01);
                }
                Files.write(folder.resolve("out"), out);
              } catch (IOException e) {
                throw new AssertionError(e);
              }
              return "ok";
            });
  }

  private byte[] out(Contest contest) throws IOException {
    Norm norm = norm(contest, folder);
    Rows x = read(contest, folder, "x");
    byte[] first = new byte[ROWS * 40 * Float.BYTES];
    Saved saved = new Saved(Keep.INPUT, ROWS);
    if (contest.job() == Contest.Job.RESIDUAL) {
      byte[] residual = Files.readAllBytes(folder.resolve("x"));
      norm.addAndApply(x, rows(contest, residual), rows(contest, first));
      return joined(first, residual);
    }
    norm.apply(x, rows(contest, first), saved);
    if (contest.job() == Contest.Job.FORWARD) {
      return first;
    }
    float[] dgain = new float[40];
    Rows dy = read(contest, folder, "dy");
    norm.backward(dy, saved, rows(contest, first), ParameterGradients.assigned(dgain, null));
    byte[] sums = MemorySegment.ofArray(dgain).toArray(ValueLayout.JAVA_BYTE);
    return contest.job() == Contest.Job.BACKWARD ? first : joined(first, sums);
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  @Test
  void whatIsNotThereIsSaid() {
    try (Torch torch = Torch.start(List.of("no-such-python"))) {
      assertThat(torch.text()).isEqualTo("no-such-python cannot be started");
      assertThat(time(torch)).isEmpty();
    }
    try (Torch torch =
        shell("echo a >&2; echo \"ModuleNotFoundError: No module named 'torch'\" >&2")) {
      assertThat(torch.text())
          .isEqualTo("python3 ended: ModuleNotFoundError: No module named 'torch'");
      assertThat(time(torch)).isEmpty();
    }
    try (Torch torch = shell("echo failed torch 2.1 sees no CUDA device")) {
      assertThat(torch.text()).isEqualTo("torch 2.1 sees no CUDA device");
    }
  }

  @Test
  void aProcessThatEndsIsSaid() {
    try (Torch torch = shell(HELLO)) {
      assertThat(time(torch).orElseThrow().refused()).isEqualTo("it has ended");
    }
    try (Torch torch = shell(HELLO + "read -r x; echo failed out of memory")) {
      assertThat(time(torch).orElseThrow().refused()).isEqualTo("out of memory");
    }
  }

  /**
   * The script itself, with the Python of this machine: PyTorch is not needed to say that it lacks.
   */
  @Test
  void theScriptStarts() {
    try (Torch torch = Torch.start(0)) {
      assertThat(torch.text())
          .matches("python3 (cannot be started|ended: ModuleNotFoundError: .*)|torch .*");
    }
  }

  /** The script and a module that stands for PyTorch: the answer is right, and times come. */
  @Test
  void theScriptAnswersAndTimes() throws IOException, InterruptedException {
    assumeThat(hasPython()).as("there is no python3").isTrue();
    String modules = Path.of("src/test/resources/fake-torch").toAbsolutePath().toString();
    List<String> command =
        new ArrayList<>(List.of("env", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" + modules));
    command.addAll(Torch.command(0));
    Contest contest =
        new Contest(NormSpec.Kind.RMS_NORM, Contest.Job.FORWARD, ElementType.FLOAT32, 48);
    try (Torch torch = Torch.start(command)) {
      assertThat(torch.text()).isEqualTo("torch 0.0 on no GPU");
      assertThat(torch.time(contest, 5, 3, 12, 2))
          .contains(new Times("torch", null, List.of(5.0, 5.0)));
      Contest other =
          new Contest(NormSpec.Kind.LAYER_NORM, Contest.Job.FORWARD, ElementType.FLOAT32, 48);
      assertThat(torch.time(other, 5, 3, 12, 2).orElseThrow().refused())
          .endsWith("has no attribute 'layer_norm'");
    }
  }

  private static boolean hasPython() throws InterruptedException {
    try {
      return new ProcessBuilder("python3", "--version").start().waitFor() == 0;
    } catch (IOException _) {
      return false;
    }
  }

  @Test
  void theNormIsTheOneThatIsTimed() {
    Contest layerNorm =
        new Contest(NormSpec.Kind.LAYER_NORM, Contest.Job.FORWARD, ElementType.FLOAT32, 8);
    assertThat(ContestPlaces.norm(layerNorm).spec()).isEqualTo(NormSpec.LAYERNORM);
    assertThat(ContestPlaces.norm(contest(Contest.Job.FORWARD)).spec()).isEqualTo(NormSpec.RMSNORM);
  }
}
