package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** docs/kernels.md shows the diff of a variant: it has to fit the sources as they are. */
class KernelsPageTest {
  private static final Pattern DIFF = Pattern.compile("(?s)```diff\n(.*?)```");
  private static final Pattern FILE = Pattern.compile("(?m)^--- a/(.+)\n\\+\\+\\+ b/\\1\n");
  private static final Pattern HUNK = Pattern.compile("(?m)^@@ .* @@.*\n");

  @Test
  void everyHunkOfTheDiffFitsItsFile() throws IOException {
    Path root = Path.of("..");
    String page = Files.readString(root.resolve("docs/kernels.md"));
    String diff = DIFF.matcher(page).results().map(m -> m.group(1)).collect(Collectors.joining());
    int hunks = 0;
    for (MatchResult file : FILE.matcher(diff).results().toList()) {
      String source = Files.readString(root.resolve(file.group(1)));
      String rest = diff.substring(file.end());
      String body = FILE.split(rest)[0];
      for (String hunk : HUNK.splitAsStream(body).filter(h -> !h.isBlank()).toList()) {
        assertThat(source).as(file.group(1)).contains(before(hunk));
        hunks++;
      }
    }
    assertThat(hunks).isEqualTo((int) HUNK.matcher(diff).results().count()).isPositive();
  }

  /** The lines that a hunk expects. */
  private static String before(String hunk) {
    return hunk.lines()
        .filter(line -> !line.startsWith("+"))
        .map(line -> line.substring(1) + "\n")
        .collect(Collectors.joining());
  }
}
