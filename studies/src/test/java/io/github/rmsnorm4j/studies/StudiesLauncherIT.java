package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.Launchers;
import io.github.rmsnorm4j.cli.testing.Shell.Result;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./rmsnorm story} and {@code ./rmsnorm train} as a user starts them. */
class StudiesLauncherIT {
  @TempDir private static Path folder;
  private static Launchers launchers;
  private static Path checkout;

  @BeforeAll
  static void startForTheFirstTime() throws IOException, InterruptedException {
    launchers = new Launchers(folder);
    checkout = launchers.copyOfCheckout("a checkout");
    assertThat(launchers.shell().run(checkout.resolve("rmsnorm"), "story", "--tokens", "1").err())
        .startsWith(
            "rmsnorm: building the command line with story, once (this may take a minute)\n");
  }

  @AfterAll
  static void close() throws IOException {
    launchers.close();
  }

  /** The model is in the jar, and its products are plain Java. */
  @Test
  void aStoryNeedsNothingThatIsFetched() throws IOException, InterruptedException {
    Result story = launchers.shell().run(checkout.resolve("rmsnorm"), "story", "--tokens", "3");
    assertThat(story.out()).isEqualTo("Once upon a\n");
    assertThat(story.err()).contains("plain Java", "the story is cut here").hasLineCount(2);
    assertThat(story.status()).isZero();
  }

  /** The JVM that trains has its libraries from the folder in which they are kept once fetched. */
  @Test
  void trainingsRunInAJvmThatHasOpenBlas() throws IOException, InterruptedException {
    Path natives = Files.createDirectories(checkout.resolve("studies/target/run/natives"));
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      String name = Path.of(entry).getFileName().toString();
      if (name.matches("(openblas|javacpp)-.*-(linux|macosx)-.*\\.jar")) {
        Files.copy(Path.of(entry), natives.resolve(name));
      }
    }
    Path state = folder.resolve("state");
    Path launcher = checkout.resolve("rmsnorm");
    List<Object> train =
        new ArrayList<>(List.of(launcher, "train", "--out", state, "--steps", "2"));
    train.addAll(List.of("--seeds", "1", "--width", "8", "--heads", "2"));
    Result first = launchers.shell().run(train.toArray());
    assertThat(first.err()).contains("[2/2] ").doesNotContain("fetching", "WARNING");
    assertThat(first.out()).contains("RMSNorm").contains("cannot show which norm is better");
    assertThat(first.status()).isZero();
    assertThat(natives.resolve("unpacked")).isNotEmptyDirectory();

    Result again = launchers.shell().run(train.toArray());
    assertThat(again.err()).contains("holds a training: --resume continues it").hasLineCount(1);
    assertThat(again.status()).isEqualTo(2);
  }
}
