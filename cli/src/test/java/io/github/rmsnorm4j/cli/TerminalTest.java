package io.github.rmsnorm4j.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.ChildJvm;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TerminalTest {
  /** Says whether it is on a terminal. */
  static final class Question {
    private Question() {}

    public static void main(String[] args) {
      System.out.println("terminal: " + Terminal.isStandardError());
    }
  }

  private static String answer(List<String> command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    process.getOutputStream().close();
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    process.waitFor();
    return out.strip();
  }

  @Test
  void aPipeIsNone() throws Exception {
    assertThat(answer(ChildJvm.command(Question.class, List.of()))).isEqualTo("terminal: false");
  }

  /** script(1), which every Linux has, runs a command on a terminal of its own. */
  @Test
  void aTerminalIsOne() throws Exception {
    String command = "'" + String.join("' '", ChildJvm.command(Question.class, List.of())) + "'";
    assertThat(answer(List.of("script", "-qec", command, "/dev/null"))).isEqualTo("terminal: true");
  }

  @ParameterizedTest
  @CsvSource({
    "'', true, true",
    "'', false, false",
    "NO_COLOR=1, true, false",
    "NO_COLOR=1 CLICOLOR_FORCE=1, true, false",
    "NO_COLOR=, true, true",
    "CLICOLOR_FORCE=1, false, true",
    "CLICOLOR_FORCE=1 TERM=dumb, false, true",
    "CLICOLOR_FORCE=0, false, false",
    "CLICOLOR=0, true, false",
    "CLICOLOR=1, false, false",
    "TERM=dumb, true, false",
    "TERM=xterm, true, true"
  })
  void colorsAreForWhoeverSeesThem(String variables, boolean terminal, boolean colors) {
    Map<String, String> environment = new HashMap<>(Map.of("WT_SESSION", "1"));
    for (String variable : variables.split(" ")) {
      environment.put(variable.split("=")[0], variable.replaceFirst("[^=]*=?", ""));
    }
    assertThat(Terminal.colors(environment, () -> terminal).enabled()).isEqualTo(colors);
  }

  /** The output is looked at, the error stream goes to a file, and the other way round. */
  @Test
  void eachStreamHasItsOwnColors() throws Exception {
    List<String> wrong = ChildJvm.command(Rmsnorm.class, List.of(), "show", "nosuch.npy");
    List<String> help = ChildJvm.command(Rmsnorm.class, List.of(), "help");
    String gpt2 = Shell.CHECKOUT.resolve("examples/tiny-gpt2").toString();
    List<String> inspect = ChildJvm.command(Rmsnorm.class, List.of(), "inspect", gpt2);
    String error = "rmsnorm show: nosuch.npy: no such file or folder";
    assertThat(onTerminal(wrong, "")).isEqualTo("\u001b[31m" + error + "\u001b[39m");
    assertThat(onTerminal(wrong, "2>&1 | cat")).isEqualTo(error);
    assertThat(onTerminal(help, "")).contains("\u001b[1mrmsnorm");
    assertThat(onTerminal(inspect, "")).startsWith("\u001b[32mGPT-2: ");
    assertThat(onTerminal(inspect, "| cat")).startsWith("GPT-2: ").doesNotContain("\u001b");
    assertThat(onTerminal(help, "| cat")).startsWith("Usage: rmsnorm [").doesNotContain("\u001b");
  }

  private static String onTerminal(List<String> command, String end) throws Exception {
    String line =
        "unset NO_COLOR CLICOLOR CLICOLOR_FORCE; TERM=xterm '" + String.join("' '", command);
    return answer(List.of("script", "-qec", line + "' " + end, "/dev/null"));
  }
}
