package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.Rmsnorm;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.models.transformer.Stories260K;
import io.github.rmsnorm4j.studies.story.SampleText;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code rmsnorm story}, but for its table of comparisons. */
class StoryTest {
  private static final String BEGINNING =
      "Once upon a time, there was a little girl named Lily. She loved to play outside in the park.";

  @TempDir Path folder;

  private static CommandResult story(String... args) {
    List<String> all = new ArrayList<>(List.of("story"));
    all.addAll(List.of(args));
    return CommandResult.of(all.toArray(String[]::new));
  }

  @Test
  void theModelBeginsItself() {
    CommandResult result = story();
    assertThat(result.status()).isZero();
    assertThat(result.out()).startsWith(BEGINNING).endsWith("\n").doesNotContain("<s>");
    assertThat(result.err())
        .isEqualTo("rmsnorm story: stories260K, norms: as trained; matrix products: plain Java\n");
  }

  @Test
  void whatIsEmptyOrCutIsSaid() {
    CommandResult empty = story("--like", "rmsnorm(eps=1)", "--tokens", "30");
    assertThat(empty.out()).isBlank();
    assertThat(empty.err().lines()).last().isEqualTo("rmsnorm story: it ends at once");
    assertThat(story("--tokens", "4").err().lines())
        .last()
        .isEqualTo("rmsnorm story: --tokens 4: the story is cut here ...");
    assertThat(story("--compare", "--tokens", "2").out()).contains("the same in 2 tokens");
  }

  /** The words that the model would write itself lead to the same story. */
  @Test
  void aPromptIsContinued() {
    assertThat(story("Once upon a time").out()).isEqualTo(story().out());
    CommandResult other = story("The cat", "--tokens", "5");
    assertThat(other.out()).startsWith("The cat").endsWith("\n").hasSizeBetween(10, 50);
    assertThat(story("", "--tokens", "3").out()).isEqualTo("Once upon a\n");
  }

  @Test
  void theModelIsSavedAndToldWithAgain() throws IOException {
    Path saved = folder.resolve("model");
    CommandResult first = story("--tokens", "9", "--save-model", saved.toString());
    assertThat(first.status()).isZero();
    assertThat(saved).isDirectoryContaining(file -> file.endsWith("config.json"));
    CommandResult again = story("--tokens", "9", "--model", saved.toString());
    assertThat(again.out()).isEqualTo(first.out());
    assertThat(again.err()).startsWith("rmsnorm story: " + saved + ", norms: as trained");
    Path config = saved.resolve("config.json");
    Files.writeString(
        config,
        Files.readString(config).replaceFirst("rms_norm_eps\" : [^,]*", "rms_norm_eps\" : 0.5"));
    assertThat(story("--tokens", "9", "--model", saved.toString()).out()).isNotEqualTo(first.out());
    CommandResult other = story("--save-model", saved.toString());
    assertThat(other.status()).isEqualTo(2);
    assertThat(other.err())
        .contains("--save-model")
        .contains("is of another model")
        .hasLineCount(1);
    assertThat(story("--model", folder.toString()).err()).contains("config.json").hasLineCount(1);
    assertThat(story("--model", "").err()).contains("--model is empty").hasLineCount(1);
  }

  @Test
  void charactersThatTheTokenizerLacksGoAsBytes() {
    String prompt = "Süß 한국어 😀";
    assertThat(story(prompt, "--tokens", "1").out()).startsWith(prompt);
  }

  /** Every token is flushed, so that a reader sees it at once. */
  @Test
  void tokensAreShownOneByOne() {
    List<String> flushed = new ArrayList<>();
    StringWriter out =
        new StringWriter() {
          @Override
          public void flush() {
            flushed.add(toString());
          }
        };
    int status =
        Rmsnorm.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(new StringWriter()))
            .execute("story", "--tokens", "4");
    assertThat(status).isZero();
    assertThat(flushed).containsSubsequence("Once", "Once upon", "Once upon a", "Once upon a time");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--like layernorm",
        "--like none",
        "--like rmsnorm(eps=1e-5,part=1/2)",
        "--like rmsnorm(eps=1)",
        "--gain off",
        "--like layernorm(eps=0.1) --gain off",
        "--like llama(eps=1e-5,part=1/2) --type f16"
      })
  void aChangeIsNamedAndTellsAnotherStory(String options) {
    CommandResult result = story(options.split(" "));
    assertThat(result.status()).isZero();
    String named = result.err().lines().findFirst().orElseThrow();
    for (String option : options.split(" (?=--)")) {
      assertThat(named).contains(option.replace("--like ", "").replace(",", ", "));
    }
    assertThat(result.out()).doesNotStartWith(BEGINNING + " One day, she saw a big, red");
  }

  @Test
  void whatTheTrainingHadIsNoChange() {
    String trained = story("--tokens", "40").out();
    assertThat(story("--tokens", "40", "--like", "rmsnorm(eps=1e-5)", "--gain", "on").out())
        .isEqualTo(trained);
    assertThat(story("--tokens", "40", "--like", "rmsnorm(eps=1e-5, part=1)").out())
        .isEqualTo(trained);
    // The gain is float32, which is what t5 rounds to.
    assertThat(story("--type", "bf16", "--like", "t5(eps=1e-5)").out())
        .isEqualTo(story("--type", "bf16").out());
  }

  @Test
  void anOrderOfCastsThatChangesNothingIsNamed() {
    String note = "the cast order changes nothing on float32 rows";
    assertThat(story("--tokens", "1", "--like", "llama").err()).contains(note);
    assertThat(story("--tokens", "1", "--like", "onnx").err()).doesNotContain(note);
    assertThat(story("--tokens", "1", "--like", "llama", "--type", "f16").err())
        .doesNotContain(note);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "--tokens 0|--tokens is 0, it may be 1 to 512",
        "--tokens 513|--tokens is 513, it may be 1 to 512",
        "--tokens x|'x' is not a whole number of at most 2147483647",
        "--like batch|--like: none, or a norm: norm is 'batch', it may be rmsnorm, layernorm, llama",
        "--like rmsnorm(part=0)|norm is 'rmsnorm(part=0)', part may be a share above 0 and at most 1",
        "--like rmsnorm(part=1/65,eps=-1)|norm is 'rmsnorm(part=1/65,eps=-1)', eps may be a finite",
        "--like rmsnorm(part=0.01|norm is 'rmsnorm(part=0.01', a ) must close the settings",
        "--type f64|'f64' is not bf16 or f16",
        "--type float32|'float32' is not bf16 or f16",
        "--type int8|'int8' is not bf16 or f16",
        "--gain none|expected one of [on, off] (case-sensitive) but was 'none'",
        "--like none --gain off|--gain is off, with --like none there is no norm that has it",
        "--like none --type f16|--type is f16, with --like none",
        "--like layernorm(cast=t5)|cast may be float32, llama, t5, onnx, divided",
        "--like rmsnorm(gate=silu)|norm is 'rmsnorm(gate=silu)', it must have no gate",
        "--report same --json same|--report and --json are both same",
        "one two|'two'",
        "--nonsense|'--nonsense'"
      })
  void wrongUseIsOneLine(String args, String message) {
    CommandResult result = story(args.split(" "));
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err().lines().toList()).hasSize(1);
    assertThat(result.err()).startsWith("rmsnorm story: ").contains(message);
    assertThat(result.out()).isEmpty();
  }

  @Test
  void aPartThatLeavesNoElementIsRefused() {
    CommandResult result = story("--like", "rmsnorm(part=1/65 down)");
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err())
        .startsWith(
            "rmsnorm story: part is 1/65 down, it must leave at least one of the 64 elements")
        .hasLineCount(1);
  }

  @Test
  void aPromptThatIsTooLongIsRefusedWithBothNumbers() {
    // BEGIN, the space, and a token for each x: 512 fit, but leave room for one token alone.
    CommandResult fits = story("x".repeat(510));
    assertThat(fits.status()).isZero();
    assertThat(fits.err()).contains("all positions of the model are taken: the story stops here");
    assertThat(story("x".repeat(511)).err())
        .isEqualTo(
            "rmsnorm story: PROMPT has 513 tokens, the model has 512 positions: give a shorter one"
                + " (rmsnorm story --help tells more)\n");
    CommandResult huge = story("x".repeat(100_000));
    assertThat(huge.err())
        .contains("PROMPT has at least 14287 tokens, the model has 512 positions");
    assertThat(huge.status()).isEqualTo(2);
  }

  @Test
  void filesAreWrittenWholeAndNothingIsReplacedUnasked() throws IOException {
    Path page = folder.resolve("story.html");
    Path data = folder.resolve("story.json");
    String[] args = {"--tokens", "2", "--report", page.toString(), "--json", data.toString()};
    CommandResult first = story(args);
    assertThat(first.status()).isZero();
    assertThat(first.err()).contains("--report wrote " + page, "--json wrote " + data);
    assertThat(page).content().contains("The residual stream by depth").doesNotContain("http:");
    assertThat(data).content().contains("\"change\" : \"as trained\"").contains("\"depth\" : 5");

    Files.writeString(page, "kept");
    CommandResult again = story(args);
    assertThat(again.status()).isEqualTo(2);
    assertThat(again.err()).contains("exists already; --force replaces it");
    assertThat(again.out()).isEmpty();
    assertThat(page).hasContent("kept");
    List<String> forced = new ArrayList<>(List.of(args));
    forced.addAll(List.of("--force", "--like", "layernorm"));
    assertThat(story(forced.toArray(String[]::new)).status()).isZero();
    assertThat(page).content().contains("layernorm");
  }

  /** Each story is a window of its own, with its beginning. */
  @Test
  void theSampleTextFitsTheModel() throws IOException {
    assertThat(SampleText.stories()).hasSize(3).allMatch(story -> !story.contains("\n"));
    assertThat(SampleText.windows(Stories260K.tokenizer()))
        .hasSize(3)
        .allSatisfy(window -> assertThat(window).startsWith(1).hasSizeBetween(100, 512));
  }
}
