package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
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
        "--resume --force|--resume and --force contradict each other",
        "--jobs 0|--jobs is 0, it may be 1 to 1048576",
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
    assertWrongUse(result, "heads is 5, it must divide the width, 32");
    assertWrongUse(
        CommandResult.of("train", "--width", "12", "--heads", "4"),
        "headWidth is 3, it must be even");
  }

  @Test
  void aTextThatIsShorterThanABatchIsWrongUse() throws IOException {
    Path text = Files.writeString(folder.resolve("short.txt"), "too short");
    assertWrongUse(
        train("--text", text),
        "has 9 characters; a batch is 2 sequences of 64 and a tenth is held out, so at least 650");
    assertThat(train("--text", folder.resolve("none.txt")).status()).isEqualTo(1);
    Files.write(text, new byte[] {(byte) 0xff, 0, 1});
    assertError(train("--text", text), "is not UTF-8");
    assertError(train("--text", folder), "is a folder, not a file");
  }

  @Test
  void aLossThatIsNoNumberEndsItAndLosesNothing() {
    Path state = folder.resolve("state");
    CommandResult result = train("--rate", "1e30");
    assertError(result, "a lower rate or a longer warm-up may help");
    assertThat(result.err()).contains("rate 1e+30, seed 1").contains(" at step ");
    assertThat(result.status()).isEqualTo(1);
    assertThat(state).isDirectoryContaining("glob:**.safetensors");
  }

  @Test
  void aFolderWithStateIsNotTouchedWithoutBeingAsked() throws IOException {
    Path state = folder.resolve("state");
    assertThat(train().status()).isZero();
    Path plan = state.resolve("plan.json");
    String before = Files.readString(plan);

    assertWrongUse(train(), "holds a training: --resume goes on with it, --force begins anew");
    assertWrongUse(train("--resume", "--rate", "1e-4"), "is of a training with other settings");
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
    Path other = folder.resolve("other");
    List<Object> wide = List.of("--out", other, "--width", "16", "--rate", "1e30");
    assertThat(train(wide.toArray()).status()).isEqualTo(1);
    Path checkpoint = state.resolve("reported-rms-norm-pre-2-0.002-2.safetensors");
    try (Stream<Path> files = Files.list(other)) {
      Path wrong =
          files.filter(f -> f.toString().endsWith(".safetensors")).findFirst().orElseThrow();
      Files.copy(wrong, checkpoint);
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
