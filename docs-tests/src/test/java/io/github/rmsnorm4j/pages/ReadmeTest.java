package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.rmsnorm4j.cli.Rmsnorm;
import io.github.rmsnorm4j.cli.testing.JavaSource;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of README can be given, and its lines of Java run. */
class ReadmeTest {
  private static final Pattern COMMAND = Pattern.compile("(?m)(?:^|`)\\./rmsnorm ([^#`\\n]+)");
  private static final Pattern WORD = Pattern.compile("\"[^\"]*\"|\\S+");
  private static final Pattern JAVA = Pattern.compile("(?s)```java\n(.*?)```");

  /** The program that the lines of Java are put into. */
  private static final String PROGRAM =
      """
      import static io.github.rmsnorm4j.ElementType.BFLOAT16;

      import io.github.rmsnorm4j.*;
      import java.lang.foreign.*;
      import java.util.Arrays;

      class Lines {
        static float[] ones(int length) {
          float[] values = new float[length];
          Arrays.fill(values, 1);
          return values;
        }

        public static void main(String[] args) {
          int rows = 3;
          float[] weights = ones(4096), bias = ones(4096), x = ones(rows * 4096), y = ones(rows * 4096);
          float[] residual = ones(rows * 4096);
          Rows dy = Rows.of(ones(rows * 4096), 4096), dx = Rows.of(ones(rows * 4096), 4096);
          Saved saved = new Saved(Keep.INPUT, rows);
          float[] dgain = new float[4096];
          ParameterGradients gradients = ParameterGradients.assigned(dgain, null);
          MemorySegment segment = MemorySegment.ofArray(new short[rows * 4096]);
          Rows in = Rows.of(x, 4096), out = Rows.of(y, 4096), gain = Rows.of(ones(4096), 4096);
          %s
          System.out.println(y[0] + " " + residual[0] + " " + saved.rstd()[0] + " " + dgain[0]);
        }
      }
      """;

  @TempDir Path folder;

  @Test
  void everyCommandCanBeGiven() throws IOException {
    List<String> commands =
        COMMAND.matcher(readme()).results().map(found -> found.group(1)).toList();
    assertThat(commands).hasSizeGreaterThan(6);
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

  /** Ones are added to ones; the rows of bfloat16, which come last, are zeros. */
  @Test
  void theLinesOfJavaRun() throws Exception {
    Matcher lines = JAVA.matcher(readme());
    assertThat(lines.find()).isTrue();
    assertThat(JavaSource.run(folder, PROGRAM.formatted(lines.group(1))))
        .matches("0\\.0 2\\.0 0\\.99999\\d* 2\\.99998\\d*\\n");
    assertThat(lines.find()).as("other lines of Java").isFalse();
  }

  private static String readme() throws IOException {
    return Files.readString(Shell.CHECKOUT.resolve("README.md")).replace("\\\n", " ");
  }
}
