package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The commands of README can be given, and its output is theirs. */
class ReadmeTest {
  private static final Pattern COMMAND = Pattern.compile("(?m)(?:^|`)\\./rmsnorm ([^#`\\n]+)");
  private static final Pattern WORD = Pattern.compile("\"[^\"]*\"|\\S+");
  private static final Pattern OUTPUT =
      Pattern.compile("(?s)```\\n\\$ \\./rmsnorm ([^\\n]+)\\n(.*?)```");

  @Test
  void everyCommandCanBeGiven() throws IOException {
    List<String> commands =
        COMMAND.matcher(readme()).results().map(found -> found.group(1)).toList();
    assertThat(commands).hasSizeGreaterThan(15);
    for (String command : commands) {
      String[] words =
          WORD.matcher(command)
              .results()
              .map(found -> found.group().replace("\"", ""))
              .toArray(String[]::new);
      assertThatCode(() -> Rmsnorm.commandLine().parseArgs(words))
          .as(command)
          .doesNotThrowAnyException();
      Arrays.stream(words)
          .filter(word -> word.startsWith("examples/"))
          .map(word -> word.replaceFirst(":.*", ""))
          .forEach(file -> assertThat(Shell.CHECKOUT.resolve(file)).isRegularFile());
    }
  }

  @Test
  void theOutputIsThatOfTheCommand() throws IOException {
    Matcher shown = OUTPUT.matcher(readme());
    assertThat(shown.find()).isTrue();
    CommandResult result = CommandResult.of(shown.group(1).split(" "));
    assertThat(result.out()).isEqualTo(shown.group(2));
  }

  private static String readme() throws IOException {
    return Files.readString(Shell.CHECKOUT.resolve("README.md")).replace("\\\n", " ");
  }
}
