package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/models.md: its commands, one after the other, print what the page shows. */
class ModelsPageTest {
  private static final Pattern SHOWN =
      Pattern.compile("(?s)```\\n\\$ \\./rmsnorm (.*?[^\\\\])\\n(.*?)```");

  @TempDir Path folder;

  @Test
  void theOutputsAreThoseOfTheCommands() throws IOException {
    String page = Files.readString(Shell.CHECKOUT.resolve("docs/models.md"));
    List<MatchResult> shown = SHOWN.matcher(page).results().toList();
    assertThat(shown).hasSizeGreaterThan(6);
    Files.createDirectory(folder.resolve("work"));
    for (MatchResult each : shown) {
      String command = each.group(1).replaceAll("\\\\\\n\\s*", "");
      CommandResult result = CommandResult.of(words(command));
      int status = each.group(2).contains("None of the norms known here made Y.") ? 1 : 0;
      assertThat(result.status()).as(command + ": " + result.err()).isEqualTo(status);
      assertThat(here(result.out())).as(command).matches(pattern(each.group(2)));
    }
    assertThat(folder.resolve("work/again.safetensors"))
        .hasSameBinaryContentAs(folder.resolve("work/y.safetensors"));
  }

  /** The page's files are in a folder work, which is one of this test's, and in examples. */
  private String[] words(String command) {
    return Arrays.stream(command.split(" +"))
        .map(word -> word.replaceAll("^'(.*)'$", "$1"))
        .map(word -> word.startsWith("work/") ? folder + "/" + word : word)
        .map(word -> word.startsWith("examples/") ? Shell.CHECKOUT + "/" + word : word)
        .toArray(String[]::new);
  }

  /** What a page shows of an output. A line of three dots stands for lines that it leaves out. */
  private static Pattern pattern(String shown) {
    return Pattern.compile(
        Arrays.stream(shown.split("(?m)^\\.\\.\\.\\n", -1))
            .map(Pattern::quote)
            .collect(Collectors.joining("(?s:.+\n)")));
  }

  private String here(String text) {
    return text.replace(folder + "/", "");
  }
}
