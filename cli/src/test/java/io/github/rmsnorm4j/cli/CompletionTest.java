package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionTest {
  @Test
  void bashCompletesTheCommands(@TempDir Path folder) throws IOException, InterruptedException {
    Path script =
        Files.writeString(folder.resolve("completion"), CommandResult.of("completion").out());
    String ask =
        "source '%s'; COMP_WORDS=(rmsnorm d); COMP_CWORD=1; _complete_rmsnorm; echo \"${COMPREPLY[@]}\""
            .formatted(script);
    Process bash = new ProcessBuilder(List.of("bash", "-c", ask)).redirectErrorStream(true).start();
    String answer = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(bash.waitFor()).as(answer).isZero();
    assertThat(answer.strip().split(" ")).contains("demo", "doctor");
  }
}
