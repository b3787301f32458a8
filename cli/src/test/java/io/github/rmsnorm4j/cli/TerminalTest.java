package io.github.rmsnorm4j.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.ChildJvm;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

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
}
