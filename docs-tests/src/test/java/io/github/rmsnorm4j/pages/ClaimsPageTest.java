package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.rmsnorm4j.cli.Rmsnorm;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/claims.md names only commands, files and tests that are there, and decides every claim. */
class ClaimsPageTest {
  private static final List<String> VERDICTS =
      List.of("*shown*", "*depends*", "*refuted*", "*history*", "*not yet*");
  private static final Pattern COMMAND = Pattern.compile("`\\./rmsnorm ([^`]*)`");
  private static final Pattern TEST = Pattern.compile("`(\\w+Test)(?:\\.(\\w+))?`");
  private static final Pattern CODE = Pattern.compile("`[^`]*`");

  /** A row of a table of claims: what is said, the verdict, what is so, what stands behind it. */
  private record Claim(String statement, String verdict, String truth, String evidence) {}

  @Test
  void everyRowHasAVerdict() throws IOException {
    assertThat(claims())
        .hasSizeGreaterThan(20)
        .allSatisfy(
            claim -> {
              assertThat(VERDICTS).as(claim.statement()).contains(claim.verdict());
              assertThat(claim.truth()).as(claim.statement()).isNotBlank();
              assertThat(claim.evidence()).as(claim.statement()).isNotBlank();
            });
  }

  /**
   * What is shown is shown by something that runs; what a command cannot show is not claimed so.
   */
  @Test
  void whatIsShownNamesACommandOrATest() throws IOException {
    assertThat(claims())
        .filteredOn(claim -> claim.verdict().equals("*shown*"))
        .isNotEmpty()
        .allSatisfy(claim -> assertThat(claim.evidence()).containsPattern(CODE));
  }

  /** Nothing in the last column looks like evidence and is neither a command nor a test. */
  @Test
  void allCodeIsACommandOrATest() throws IOException {
    for (Claim claim : claims()) {
      assertThat(CODE.matcher(claim.evidence()).results().map(MatchResult::group))
          .as(claim.statement())
          .allMatch(code -> COMMAND.matcher(code).matches() || TEST.matcher(code).matches());
    }
  }

  @Test
  void everyCommandCanBeGiven() throws IOException {
    List<String> commands =
        COMMAND.matcher(page()).results().map(found -> found.group(1)).distinct().toList();
    assertThat(commands).isNotEmpty();
    for (String command : commands) {
      String[] words = command.split(" ");
      assertThat(Rmsnorm.commandLine().getSubcommands()).as(command).containsKey(words[0]);
      assertThatCode(() -> Rmsnorm.commandLine().parseArgs(words))
          .as(command)
          .doesNotThrowAnyException();
      // By hand, since demo takes what looks like an option for a number.
      assertThat(words)
          .filteredOn(word -> word.matches("--?[a-z].*"))
          .isSubsetOf(
              Rmsnorm.commandLine()
                  .getSubcommands()
                  .get(words[0])
                  .getCommandSpec()
                  .optionsMap()
                  .keySet());
      Arrays.stream(words)
          .filter(word -> word.startsWith("examples/"))
          .map(word -> word.replaceFirst(":.*", ""))
          .forEach(file -> assertThat(Shell.CHECKOUT.resolve(file)).isRegularFile());
    }
  }

  @Test
  void everyTestExists() throws IOException {
    Map<String, Path> sources = testSources();
    List<MatchResult> named = TEST.matcher(page()).results().toList();
    assertThat(named).isNotEmpty();
    for (MatchResult test : named) {
      assertThat(sources).containsKey(test.group(1));
      if (test.group(2) != null) {
        assertThat(Files.readString(sources.get(test.group(1))))
            .as(test.group())
            .containsPattern("void " + test.group(2) + "\\(");
      }
    }
  }

  private static String page() throws IOException {
    return Files.readString(Shell.CHECKOUT.resolve("docs/claims.md"));
  }

  /** Rows of four cells, less each table's head. */
  private static List<Claim> claims() throws IOException {
    return page()
        .lines()
        .filter(line -> line.startsWith("| ") && !line.startsWith("| ---"))
        .map(line -> line.substring(1, line.lastIndexOf('|')).split("\\|", -1))
        .filter(cells -> cells.length > 2 && !cells[0].strip().equals("statement"))
        .map(ClaimsPageTest::claim)
        .toList();
  }

  private static Claim claim(String[] cells) {
    assertThat(cells).hasSize(4);
    return new Claim(cells[0].strip(), cells[1].strip(), cells[2].strip(), cells[3].strip());
  }

  private static Map<String, Path> testSources() throws IOException {
    try (Stream<Path> modules = Shell.modules()) {
      return modules
          .map(module -> module.resolve("src/test/java"))
          .filter(Files::isDirectory)
          .flatMap(ClaimsPageTest::javaFiles)
          .collect(
              Collectors.toMap(
                  file -> file.getFileName().toString().replace(".java", ""),
                  Function.identity(),
                  (one, other) -> one));
    }
  }

  private static Stream<Path> javaFiles(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
