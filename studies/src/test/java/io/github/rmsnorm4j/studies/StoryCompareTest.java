package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.Stories260K;
import io.github.rmsnorm4j.models.transformer.Weights;
import io.github.rmsnorm4j.report.Records;
import io.github.rmsnorm4j.studies.story.Comparison;
import io.github.rmsnorm4j.studies.story.Results;
import io.github.rmsnorm4j.studies.story.SampleText;
import io.github.rmsnorm4j.studies.training.OpenBlas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rmsnorm story --compare}: its table, its files, and the page that shows it. */
@Tag("long")
class StoryCompareTest {
  @TempDir private static Path folder;

  private static CommandResult result;
  private static Results figures;
  private static String page;

  @BeforeAll
  static void compare() throws IOException {
    Path html = folder.resolve("story.html");
    Path json = folder.resolve("story.json");
    result = CommandResult.of("story", "--compare", "--report", "" + html, "--json", "" + json);
    figures = Records.read(Results.class, Files.readString(json));
    page = Files.readString(html);
  }

  private static Comparison of(String change) {
    return figures.comparisons().stream()
        .filter(comparison -> comparison.change().equals(change))
        .findFirst()
        .orElseThrow();
  }

  /** A line of three dots stands for lines that the page leaves out. */
  @Test
  void thePageShowsTheTable() throws IOException {
    assertThat(result.status()).isZero();
    String page = Files.readString(Shell.CHECKOUT.resolve("docs/compare-and-train.md"));
    String command = "```\n$ ./rmsnorm story --compare\n";
    String shown = page.substring(page.indexOf(command) + command.length());
    List<String> lines =
        shown
            .substring(0, shown.indexOf("```"))
            .lines()
            .filter(line -> !line.equals("..."))
            .toList();
    assertThat(lines).hasSizeGreaterThan(10);
    assertThat(result.out().lines()).containsSubsequence(lines);
  }

  /** In one pass over each story, with OpenBLAS and the fastest kernels. */
  @Test
  void theTrainedLossIsThatOfAModelOnWholeStories() throws IOException {
    double sum = 0;
    int count = 0;
    try (Weights weights = Stories260K.weights()) {
      for (int[] window : SampleText.windows(Stories260K.tokenizer())) {
        int targets = window.length - 1;
        try (Model model = new Model(weights, 1, targets, 1, OpenBlas.ARITHMETIC)) {
          model.forward(Arrays.copyOf(window, targets));
          sum += targets * model.loss(Arrays.copyOfRange(window, 1, window.length));
          count += targets;
        }
      }
    }
    assertThat(of("as trained").loss()).isCloseTo(sum / count, within(1e-5));
    assertThat(of("as trained").loss()).isBetween(1.0, 1.6);
  }

  @Test
  void storiesAreThoseThatTheCommandTells() {
    for (String norm : new String[] {"layernorm", "llama(eps=1e-5) --type bf16"}) {
      String[] args = ("story --like " + norm).split(" ");
      assertThat(CommandResult.of(args).out()).isEqualTo(of(norm).text() + "\n");
    }
    assertThat(of("as trained").text()).startsWith("Once upon a time, there was a little girl");
  }

  @Test
  void whatIsAddedAndWhereTheStoryLeavesTheOther() {
    Comparison trained = of("as trained");
    assertThat(trained.added()).isZero();
    assertThat(trained.firstOtherWord()).isZero();
    String[] words = trained.text().split("\\s+");
    for (Comparison other : figures.comparisons()) {
      assertThat(other.added()).isEqualTo(other.loss() - trained.loss());
      String[] others = other.text().split("\\s+");
      int first = other.firstOtherWord();
      if (first == 0) {
        assertThat(others).isEqualTo(words);
      } else {
        assertThat(Arrays.copyOf(others, first - 1)).isEqualTo(Arrays.copyOf(words, first - 1));
        assertThat(others.length >= first && others[first - 1].equals(words[first - 1])).isFalse();
      }
      assertThat(result.out()).contains(other.change());
      assertThat(page).contains(other.change());
    }
  }

  @Test
  void everyLineFitsATerminal() {
    assertThat(result.out().lines()).allMatch(line -> line.length() < 80);
  }

  /** The paper's premise: hardly anything of a row is its mean. */
  @Test
  void thePageShowsRmsAndRhoAtEveryDepth() {
    assertThat(figures.streams()).hasSize(1);
    Results.Stream stream = figures.streams().getFirst();
    assertThat(stream.loss()).isEqualTo(of("as trained").loss());
    assertThat(stream.depths()).hasSize(6);
    assertThat(stream.depths())
        .allSatisfy(depth -> assertThat(depth.rho().median()).isBetween(0.0, 0.1));
    assertThat(stream.depths().getLast().rms().median())
        .isGreaterThan(stream.depths().getFirst().rms().median());
    assertThat(page).contains("The residual stream by depth", "What a change of all norms does");
  }
}
