package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.rmsnorm4j.cli.Rmsnorm;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/compare-and-train.md: every command on it can be given. */
class CompareAndTrainPageTest {
  /** In a line of code, up to a comment, or in the text. */
  private static final Pattern COMMAND =
      Pattern.compile("(?m)(?:`|^(?:\\$ )?)\\./rmsnorm ([^`\\n]*?)(?:`| +#.*$|$)");

  @Test
  void everyCommandCanBeGiven() throws IOException {
    String page = Files.readString(Shell.CHECKOUT.resolve("docs/compare-and-train.md"));
    List<String> commands =
        COMMAND.matcher(page).results().map(found -> found.group(1)).distinct().toList();
    assertThat(commands).hasSizeGreaterThan(20);
    for (String command : commands) {
      String[] words =
          Pattern.compile("\"([^\"]*)\"|\\S+")
              .matcher(command)
              .results()
              .map(word -> word.group(1) == null ? word.group() : word.group(1))
              .toArray(String[]::new);
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
    }
  }
}
