package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The README's promises name tests that are there, its commands can be given, its links lead on.
 */
class ReadmeTest {
  private static final Pattern TEST = Pattern.compile("`(\\w+(?:Test|IT))`");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)]+)\\)");
  private static final Pattern COMMAND = Pattern.compile("(?m)^\\./rmsnorm ([^#\\n]+)");

  @Test
  void everyPromiseNamesTestsThatAreThere() throws IOException {
    Set<String> tests;
    try (Stream<Path> files = Files.walk(Shell.CHECKOUT)) {
      tests =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".java"))
              .map(name -> name.replace(".java", ""))
              .collect(Collectors.toSet());
    }
    List<String> named = found(TEST);
    assertThat(named).hasSizeGreaterThan(15);
    assertThat(tests).containsAll(named);
  }

  @Test
  void everyLinkLeadsToAFile() throws IOException {
    assertThat(found(LINK))
        .isNotEmpty()
        .allSatisfy(link -> assertThat(Shell.CHECKOUT.resolve(link)).isRegularFile());
  }

  @Test
  void everyCommandCanBeGiven() throws IOException {
    List<String> commands = found(COMMAND);
    assertThat(commands).hasSizeGreaterThan(5);
    for (String command : commands) {
      String[] words = command.strip().split("\\s+");
      assertThatCode(() -> Rmsnorm.commandLine().parseArgs(words))
          .as(command)
          .doesNotThrowAnyException();
      Arrays.stream(words)
          .filter(word -> word.startsWith("examples/"))
          .map(word -> word.replaceFirst(":.*", ""))
          .forEach(file -> assertThat(Shell.CHECKOUT.resolve(file)).isRegularFile());
    }
  }

  private static List<String> found(Pattern pattern) throws IOException {
    String page = Files.readString(Shell.CHECKOUT.resolve("README.md")).replace("\\\n", " ");
    return pattern.matcher(page).results().map(ReadmeTest::group).toList();
  }

  private static String group(MatchResult found) {
    return found.group(1);
  }
}
