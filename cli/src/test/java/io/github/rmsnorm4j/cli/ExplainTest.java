package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.ExplainPage.Language;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code rmsnorm explain}: the file that it writes, and the texts in it. */
class ExplainTest {
  private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\w+}");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)]+)\\)");
  private static final Pattern KEY_IN_MARKUP = Pattern.compile("data-(?:text|label)=\"([^\"]+)\"");
  private static final Pattern WORD = Pattern.compile("\"([a-zA-Z]+\\.?\\w*)\"");
  private static final Pattern SECTION = Pattern.compile("<h2 data-text=\"([^\"]+)\"");

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource(Language.class)
  void everyLanguageHasTheSameTexts(Language language) {
    Map<String, String> english = ExplainPage.texts(Language.en);
    Map<String, String> texts = ExplainPage.texts(language);
    assertThat(texts.keySet()).containsExactlyElementsOf(english.keySet());
    texts.forEach(
        (key, text) -> {
          assertThat(text).as(key).isNotBlank();
          assertThat(found(PLACEHOLDER, text))
              .as(key)
              .containsExactlyInAnyOrderElementsOf(found(PLACEHOLDER, english.get(key)));
          assertThat(found(LINK, text)).as(key).isEqualTo(found(LINK, english.get(key)));
          assertThat(count(text, "**")).as(key).isEqualTo(count(english.get(key), "**"));
          assertThat(count(text, "`")).as(key).isEqualTo(count(english.get(key), "`"));
        });
  }

  /** Whole sentences; names and formulas are the same in all languages. */
  @ParameterizedTest
  @EnumSource(value = Language.class, mode = EnumSource.Mode.EXCLUDE, names = "en")
  void everySentenceIsTranslated(Language language) {
    Map<String, String> english = ExplainPage.texts(Language.en);
    assertThat(ExplainPage.texts(language))
        .allSatisfy(
            (key, text) -> {
              if (!key.equals("row.plain") && !key.equals("row.large")) {
                assertThat(text).as(key).isNotEqualTo(english.get(key));
                assertThat(text)
                    .as(key)
                    .containsPattern(
                        "\\p{IsIdeographic}|\\p{IsHangul}|\\p{IsKatakana}|\\p{IsHiragana}|RMS");
              }
            });
  }

  /** None is missing, and none is left over. */
  @Test
  void thePageUsesEveryTextAndNoOther() {
    Set<String> keys = ExplainPage.texts(Language.en).keySet();
    Set<String> inMarkup = new TreeSet<>(found(KEY_IN_MARKUP, ExplainPage.resource("page.html")));
    assertThat(keys).containsAll(inMarkup);
    Set<String> used = new TreeSet<>(inMarkup);
    String scripts =
        ExplainPage.SCRIPTS.stream().map(ExplainPage::resource).collect(Collectors.joining());
    for (String word : found(WORD, scripts)) {
      assertThat(word.contains(".") && !keys.contains(word)).as(word).isFalse();
      // Forms and operations are named without what stands before the dot.
      used.addAll(List.of(word, "bytes." + word, "op." + word));
    }
    used.add("name"); // texts.all[language].name
    assertThat(used).containsAll(keys);
  }

  @Test
  void theCommittedPageIsTheOneThatTheCommandWrites() throws IOException {
    Path written = folder.resolve("page.html");
    CommandResult result = CommandResult.of("explain", "-o", written.toString());
    assertThat(result.status()).isZero();
    assertThat(result.out()).isEmpty();
    assertThat(result.err().lines()).singleElement().asString().startsWith(written.toString());
    assertThat(Files.mismatch(written, Shell.CHECKOUT.resolve("docs/explain.html")))
        .as("differs from the page in docs: ./rmsnorm explain -o docs/explain.html --force")
        .isEqualTo(-1);
  }

  @Test
  void aLanguageIsShownFirstAndAllAreThere() throws IOException {
    Path written = folder.resolve("page.html");
    assertThat(CommandResult.of("explain", "-o", written.toString(), "--language", "ko").status())
        .isZero();
    String page = Files.readString(written);
    assertThat(page)
        .contains("<html lang=\"ko\">")
        .contains("<title>" + ExplainPage.texts(Language.ko).get("title") + "</title>");
    for (Language language : Language.values()) {
      assertThat(page).contains(ExplainPage.texts(language).get("why.title"));
    }
  }

  @Test
  void anotherLanguageIsWrongUse() {
    CommandResult result = CommandResult.of("explain", "--language", "fr");
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err().lines())
        .singleElement()
        .asString()
        .contains("--language", "'fr'", "en, ko, zh, ja");
  }

  @Test
  void aFileIsReplacedOnlyByForce() throws IOException {
    Path file = Files.writeString(folder.resolve("mine.html"), "mine");
    CommandResult refused = CommandResult.of("explain", "-o", file.toString());
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err())
        .contains("--output " + file, "exists already; --force")
        .hasLineCount(1);
    assertThat(file).hasContent("mine");
    assertThat(CommandResult.of("explain", "-o", file.toString(), "--force").status()).isZero();
    assertThat(file).content().startsWith("<!DOCTYPE html>");
  }

  @Test
  void whereNoFileCanBeIsWrongUseInOneLine() {
    for (String out : List.of("", "page.txt", folder.resolve("none/page.html").toString())) {
      CommandResult result = CommandResult.of("explain", "-o", out);
      assertThat(result.status()).as(out).isEqualTo(2);
      assertThat(result.err()).as(out).contains("--output").hasLineCount(1);
    }
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void theDemoTakesTheSameSteps() {
    Map<String, String> english = ExplainPage.texts(Language.en);
    List<String> sections =
        found(SECTION, ExplainPage.resource("page.html")).stream().map(english::get).toList();
    List<String> steps =
        CommandResult.of("demo").outLines().stream()
            .filter(line -> line.matches("\\d+\\. .*"))
            .toList();
    assertThat(sections).hasSizeGreaterThan(5);
    assertThat(steps).hasSize(sections.size());
    for (int i = 0; i < steps.size(); i++) {
      assertThat(steps.get(i)).isEqualTo("%d. %s", i + 1, sections.get(i));
    }
  }

  private static int count(String text, String mark) {
    return (text.length() - text.replace(mark, "").length()) / mark.length();
  }

  private static List<String> found(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(ExplainTest::last).toList();
  }

  private static String last(MatchResult found) {
    return found.group(found.groupCount());
  }
}
