package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** docs/kernels.md shows the diff of a variant: it has to fit the sources as they are. */
class KernelsPageTest {
  private static final Pattern DIFF = Pattern.compile("(?s)```diff\n(.*?)```");
  private static final Pattern FILE =
      Pattern.compile("(?s)--- a/([^\n]+)\n\\+\\+\\+ b/\\1\n(.*?)(?=--- a/|\\z)");
  private static final Pattern HUNK = Pattern.compile("(?s)@@ -[^\n]*@@[^\n]*\n(.*?)(?=@@ -|\\z)");
  private static final Pattern START = Pattern.compile("(?m)^@@ ");
  private static final int FILES = 4;

  @Test
  void everyHunkOfTheDiffFitsItsFile() throws IOException {
    Path root = Path.of("..");
    String page = Files.readString(root.resolve("docs/kernels.md"));
    Matcher diff = DIFF.matcher(page);
    assertThat(diff.find()).isTrue();
    List<MatchResult> files = FILE.matcher(diff.group(1)).results().toList();
    assertThat(files).hasSize(FILES);
    int hunks = 0;
    for (MatchResult file : files) {
      String source = Files.readString(root.resolve(file.group(1)));
      for (MatchResult hunk : HUNK.matcher(file.group(2)).results().toList()) {
        String before = before(hunk.group(1));
        assertThat(source).as("%s:%n%s", file.group(1), before).containsOnlyOnce(before);
        hunks++;
      }
    }
    assertThat(hunks).isEqualTo((int) START.matcher(diff.group(1)).results().count());
  }

  /** The lines that a hunk expects. */
  private static String before(String hunk) {
    return hunk.lines()
        .filter(line -> !line.startsWith("+"))
        .map(line -> line.substring(1) + "\n")
        .collect(Collectors.joining());
  }
}
