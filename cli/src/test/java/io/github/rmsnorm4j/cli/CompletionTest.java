package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.measure.ModuleBuild;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated // It sets a property that the whole JVM has.
class CompletionTest {
  @TempDir Path folder;

  @Test
  void bashCompletesTheCommands() throws IOException, InterruptedException {
    assertThat(completed("d")).contains("demo", "doctor");
  }

  /** Those that are not built yet by their names. */
  @Test
  void bashCompletesTheCommandsOfTheCheckout() throws IOException, InterruptedException {
    assertThat(completed("s")).doesNotContain("story");
    System.setProperty(ModuleBuild.HOME, Shell.CHECKOUT.toString());
    System.setProperty(
        OfferedCommands.LISTS, "studies/commands.properties spark/command/commands.properties");
    try {
      assertThat(completed("s")).contains("stats", "spark", "story");
    } finally {
      System.clearProperty(ModuleBuild.HOME);
      System.clearProperty(OfferedCommands.LISTS);
    }
  }

  @Test
  void bashCompletesOptionsAndTheirValues() throws IOException, InterruptedException {
    assertThat(completed("normalize --"))
        .contains("--like", "--gain-offset", "--eps-at", "--partial", "--threads")
        .contains("--residual", "--residual-out", "--residual-rounding");
    assertThat(completed("gradient --"))
        .contains("--dy", "--dgain", "--dbias", "--dresidual", "--like", "--tensor", "--axis");
    assertThat(completed("normalize --like g")).containsExactly("gemma");
    assertThat(completed("normalize --eps-at o")).containsExactly("outside");
    assertThat(completed("explain --language k")).containsExactly("ko");
    assertThat(completed("normalize --residual-rounding b")).containsExactly("between");
  }

  private String[] completed(String words) throws IOException, InterruptedException {
    return completed(
        Files.writeString(folder.resolve("completion"), CommandResult.of("completion").out()),
        words);
  }

  /** What bash offers behind these words, the last of which has been begun. */
  static String[] completed(Path script, String words) throws IOException, InterruptedException {
    // compopt complains where no completion is under way.
    String ask =
        "source \"$0\"; COMP_WORDS=(rmsnorm %s); COMP_CWORD=%d; _complete_rmsnorm 2>/dev/null; echo \"${COMPREPLY[@]}\""
            .formatted(words, words.split(" ").length);
    Process bash =
        new ProcessBuilder(List.of("bash", "-c", ask, script.toString()))
            .redirectErrorStream(true)
            .start();
    String answer = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(bash.waitFor()).as(answer).isZero();
    return answer.strip().split("\\s+");
  }
}
