package io.github.rmsnorm4j.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SourceCommitTest {
  @TempDir private Path folder;

  @Test
  void namesTheCommitAndSaysWhetherFilesHaveChanged() throws Exception {
    assumeTrue(git("init", "-q") == 0, "no git");
    Path file = Files.writeString(folder.resolve("a"), "1");
    git("add", "a");
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first");
    Files.writeString(folder.resolve("untracked"), "");
    assertThat(SourceCommit.of(folder)).matches("[0-9a-f]{12}");
    Files.writeString(file, "2");
    assertThat(SourceCommit.of(folder)).matches("[0-9a-f]{12} and changes");
  }

  @Test
  void withoutACheckoutThereIsNone() throws IOException {
    assertThat(SourceCommit.of(folder.resolve("missing"))).isNull();
  }

  @Test
  void theWordsOfACaption() {
    assertThat(SourceCommit.measuredOn("2026-01-31", "0123456789ab and changes"))
        .isEqualTo("Measured on 2026-01-31, commit 0123456789ab and changes.");
    assertThat(SourceCommit.measuredOn("2026-01-31", null))
        .isEqualTo("Measured on 2026-01-31, the commit was not recorded.");
  }

  private int git(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("git", "-C", folder.toString()));
    command.addAll(List.of(arguments));
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      return -1;
    }
  }
}
