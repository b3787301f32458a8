package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.ModelConfig;
import io.github.rmsnorm4j.models.transformer.Weights;
import io.github.rmsnorm4j.studies.training.Checkpoint;
import io.github.rmsnorm4j.studies.training.OpenBlas;
import io.github.rmsnorm4j.studies.training.RecallTask;
import io.github.rmsnorm4j.studies.training.Trainer;
import io.github.rmsnorm4j.studies.training.TrainingSettings;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every error is one line, and what was saved before it is still there. */
class TrainErrorsTest {
  /** The smallest training there is. */
  private static final List<String> TINY =
      List.of("--steps", "4", "--seeds", "2", "--width", "8", "--heads", "2", "--batch", "2", "-q");

  @TempDir Path folder;

  private CommandResult train(Object... args) {
    List<String> all =
        new ArrayList<>(List.of("train", "--out", folder.resolve("state").toString()));
    all.addAll(TINY);
    for (Object arg : args) {
      int given = all.indexOf(arg.toString());
      if (given > 0 && arg.toString().startsWith("--")) { // Given twice is an error of its own.
        all.subList(given, given + 2).clear();
      }
      all.add(arg.toString());
    }
    return CommandResult.of(all.toArray(String[]::new));
  }

  private static void assertWrongUse(CommandResult result, String message) {
    assertError(result, message);
    assertThat(result.status()).isEqualTo(2);
  }

  private static void assertError(CommandResult result, String message) {
    assertThat(result.err().lines().toList()).hasSize(1);
    assertThat(result.err()).startsWith("rmsnorm train: ").contains(message);
    assertThat(result.out()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--study width|--study is 'width', it may be norms or depth",
        "--study norms --quick|--quick and --study contradict each other",
        "--jobs 0|--jobs is 0, it may be 1 to 64",
        "--width 262144 --layers 10|2 trainings side by side take about",
        "--batch 1048576|2 trainings side by side take about",
        "--steps 262145|--steps is 262145, it may be 1 to 262144",
        "--width 10|--width is 10, with 2 heads it must be a multiple of 4",
        "--study norms --rate 1e-3,2e-3,1e-3|--rate has 0.001 twice",
        "--study depth --depths 2,4,2|--depths has 2 twice",
        "--layers 0|--layers is 0, it may be 1 to",
        "--rate -1|--rate is -1.0, it must be finite and above 0",
        "--rate NaN|--rate is NaN, it must be finite and above 0",
        "--rate 1,2|--rate has several rates, which is for --study",
        "--depths 4|--depths is for --study depth",
        "--study depth --layers 4|--layers is not for --study depth",
        "--report same --json same|--report and --json are both same",
        "--resume|there is nothing to go on with in",
        "somewhere|'somewhere'"
      })
  void wrongUseIsOneLine(String args, String message) {
    assertWrongUse(train((Object[]) args.split(" ")), message);
    assertThat(folder.resolve("state")).doesNotExist();
  }

  @Test
  void aConfigThatDoesNotDivideIsWrongUse() {
    CommandResult result = CommandResult.of("train", "--width", "32", "--heads", "5");
    assertWrongUse(result, "--width is 32, with 5 heads it must be a multiple of 10");
    assertWrongUse(
        CommandResult.of("train", "--width", "12", "--heads", "4"),
        "--width is 12, with 4 heads it must be a multiple of 8");
  }

  @Test
  void aTextThatIsShorterThanABatchIsWrongUse() throws IOException {
    Path text = Files.writeString(folder.resolve("short.txt"), "too short");
    assertWrongUse(
        train("--text", text),
        "has 9 characters; a batch is 2 sequences of 64 and a tenth is held out, so at least 650");
    assertThat(train("--text", folder.resolve("none.txt")).status()).isEqualTo(2);
    Files.write(text, new byte[] {(byte) 0xff, 0, 1});
    assertError(train("--text", text), "is not UTF-8");
    assertError(train("--text", folder), "is a folder, not a file");
    assertError(train("--text", ""), "--text: is empty, it must name a file, or be jdk");
    assertError(train("--text", "/dev/zero"), "/dev/zero: is no regular file");
  }

  @Test
  void aLossThatIsNoNumberEndsItAndLosesNothing() {
    Path state = folder.resolve("state");
    CommandResult result = train("--rate", "1e30");
    assertError(result, "a lower rate or a longer warm-up may help");
    assertThat(result.err()).contains("rate 1e+30, seed 1").contains(" at step ");
    assertThat(result.status()).isEqualTo(1);
    assertThat(state).isDirectoryContaining("glob:**plan.json");
  }

  @Test
  void aFolderWithStateIsNotTouchedWithoutBeingAsked() throws IOException {
    Path state = folder.resolve("state");
    assertThat(train().status()).isZero();
    Path plan = state.resolve("plan.json");
    String before = Files.readString(plan);

    assertWrongUse(train(), "holds a training: --resume continues it, --force starts again");
    assertWrongUse(train("--resume", "--rate", "1e-4"), "is of a training with other settings");
    Path page = Files.writeString(folder.resolve("page.html"), "another's");
    assertWrongUse(train("--resume", "--report", page), "exists already; --force replaces it");
    assertThat(page).hasContent("another's");
    assertThat(train("--resume", "--force", "--report", page).status()).isZero();
    assertThat(page).content().contains("<html");
    assertThat(plan).hasContent(before);
    assertThat(train("--resume").status()).isZero();
    assertThat(train("--force").status()).isZero();
  }

  @Test
  void aFolderWithOtherFilesIsNotTouched() throws IOException {
    Path state = Files.createDirectory(folder.resolve("state"));
    Files.writeString(state.resolve("letter.txt"), "kept");
    assertWrongUse(train(), "holds other files");
    assertWrongUse(train("--force"), "holds other files");
    assertThat(state).isDirectoryNotContaining("glob:**.json");

    Path plan = Files.writeString(state.resolve("plan.json"), "{\"format\": \"of others\"}");
    Path other = Files.writeString(state.resolve("reported-sales.2025.json"), "kept");
    assertWrongUse(train("--force"), "holds other files");
    assertWrongUse(train("--resume"), "it has no plan.json of a training");
    assertThat(plan).hasContent("{\"format\": \"of others\"}");

    Files.delete(plan);
    Files.delete(other);
    Files.delete(state.resolve("letter.txt"));
    assertThat(train().status()).isZero();
    Files.writeString(other, "kept");
    assertThat(train("--force").status()).isZero();
    assertThat(other).hasContent("kept");
  }

  @Test
  void aFolderInUseIsLeftAlone() throws IOException {
    Path state = folder.resolve("state");
    assertThat(train().status()).isZero();
    assertThat(state.resolve("lock")).doesNotExist();
    try (FileChannel channel =
            FileChannel.open(
                state.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      assertThat(lock.isValid()).isTrue();
      assertError(train("--force"), "is in use by another rmsnorm train");
      assertError(train("--resume"), "is in use by another rmsnorm train");
    }
    assertThat(state).isDirectoryContaining("glob:**reported-*");
    assertThat(train("--resume").status()).isZero();
  }

  /** As another has just begun there: a lock, and nothing else yet. */
  @Test
  void aFolderInUseIsToldFromOneWithOtherFiles() throws IOException {
    Path state = Files.createDirectory(folder.resolve("state"));
    Path lockFile = state.resolve("lock");
    try (FileChannel channel =
            FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      assertThat(lock.isValid()).isTrue();
      assertError(train(), "is in use by another rmsnorm train");
      Files.writeString(state.resolve(".plan.json.0a1b2c3d.tmp"), "{");
      assertError(train(), "is in use by another rmsnorm train");
      Files.delete(state.resolve(".plan.json.0a1b2c3d.tmp"));
    }
    assertThat(lockFile).exists(); // As one leaves it that was killed before its plan was there.
    assertThat(train().status()).isZero();
  }

  @Test
  void aFolderThatHoldsNoWorkIsBegunAnew() throws IOException {
    Path state = folder.resolve("state");
    assertThat(train().status()).isZero();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(state, "reported-*")) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    assertThat(train("--rate", "1e-4").status()).isZero();
  }

  @Test
  void stateThatIsNoStateIsNamedAndKept() throws IOException {
    Path state = folder.resolve("state");
    assertThat(train().status()).isZero();
    Path outcome = state.resolve("reported-rms-norm-pre-2-0.002-2.json");
    String good = Files.readString(outcome);

    Files.writeString(outcome, "{}");
    assertError(train("--resume"), "reported-rms-norm-pre-2-0.002-2.json: is not the outcome of a");
    assertThat(outcome).hasContent("{}");

    Files.copy(
        state.resolve("reported-layer-norm-pre-2-0.002-2.json"),
        outcome,
        StandardCopyOption.REPLACE_EXISTING);
    assertError(train("--resume"), "is of another training: LayerNorm pre, 2 blocks");

    Files.delete(outcome);
    Path checkpoint = state.resolve("reported-rms-norm-pre-2-0.002-2.safetensors");
    Files.writeString(checkpoint, "no checkpoint");
    assertError(train("--resume"), checkpoint.getFileName().toString());
    assertThat(checkpoint).hasContent("no checkpoint");

    Files.delete(checkpoint);
    assertThat(train("--resume").status()).isZero();
    assertThat(untimed(Files.readString(outcome))).isEqualTo(untimed(good));
  }

  /** What depends on the clock left out. */
  private static String untimed(String outcome) {
    return outcome.replaceAll("\"(seconds|stepMillis|norm|attention|mlp|rest)\" : [-+.\\dE]+", "");
  }

  @Test
  void aCheckpointOfOtherShapesIsRefusedAndKept() throws IOException {
    Path state = folder.resolve("state");
    assertThat(train().status()).isZero();
    Path checkpoint = state.resolve("reported-rms-norm-pre-2-0.002-2.safetensors");
    ModelConfig wide = ModelConfig.of(32, 16, 2, 2, o -> o.maxPositions = 32);
    String history =
        "{\"losses\": [], \"millis\": [], \"partMillis\": [0, 0, 0, 0], \"before\": []}";
    try (Weights weights = new Weights(wide).initialise(1);
        Model model = new Model(weights, 2, 32, 1, OpenBlas.ARITHMETIC);
        Trainer trainer =
            new Trainer(model, new RecallTask(32, 4, 32, 1), TrainingSettings.of(4, 2e-3))) {
      Checkpoint.save(checkpoint, trainer, Map.of("history", history));
    }
    Files.delete(state.resolve("reported-rms-norm-pre-2-0.002-2.json"));
    byte[] before = Files.readAllBytes(checkpoint);
    assertError(train("--resume"), "is of another training: the checkpoint's config is");
    assertThat(checkpoint).hasBinaryContent(before);
  }

  @Test
  void filesThatCannotBeWrittenAreToldBeforeAnythingIsTrained() throws IOException {
    Path there = Files.writeString(folder.resolve("there.html"), "kept");
    assertWrongUse(train("--report", there), "exists already; --force replaces it");
    assertThat(there).hasContent("kept");
    assertWrongUse(train("--json", folder.resolve("no/where.json")), "there is no folder");
    assertThat(folder.resolve("state")).doesNotExist();
  }
}
