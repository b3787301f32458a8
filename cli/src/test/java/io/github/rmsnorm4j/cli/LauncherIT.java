package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.cli.testing.Launchers;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.cli.testing.Shell.Result;
import io.github.rmsnorm4j.cli.testing.Shell.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code ./rmsnorm} and {@code ./mvnw} as a user starts them, in a copy of this checkout whose path
 * has spaces. Runs after the jars are packaged, so that all that Maven needs is there and no
 * network is asked.
 */
@Execution(ExecutionMode.SAME_THREAD) // Each of them uses both processors.
class LauncherIT {
  private static final String BUILDING =
      "rmsnorm: building the command line, once (this may take a minute)\n";

  private static final Pattern TIMES = Pattern.compile("(\\d+)m([\\d.]+)s (\\d+)m([\\d.]+)s\\s*$");

  @TempDir private static Path folder;
  private static Launchers launchers;
  private static Path checkout;
  private static Result firstStart;

  @BeforeAll
  static void startForTheFirstTime() throws IOException, InterruptedException {
    launchers = new Launchers(folder);
    checkout = launchers.copyOfCheckout("a checkout");
    firstStart = launchers.shell().run(checkout.resolve("rmsnorm"), "demo", "1", "2", "3", "4");
  }

  @AfterAll
  static void close() throws IOException {
    launchers.close();
  }

  @Test
  void theFirstStartBuildsWithOneLineAndRuns() {
    assertThat(firstStart.err()).isEqualTo(BUILDING);
    assertThat(firstStart.out()).startsWith("RMSNorm of 4 numbers").contains("1.4606");
    assertThat(firstStart.status()).isZero();
  }

  /**
   * What counts is what a start takes, not how long it waits for a machine at work on other things.
   * So a start may prove it by the clock, or by the processor time of all its threads together,
   * which is no less than the clock would show were the machine its own. A start that does not take
   * the archive beside the jar takes half as long again, and one that asks Maven takes seconds.
   */
  @Tag("measure")
  @Test
  void laterStartsAreSilentAndQuick() throws IOException, InterruptedException {
    double best = Double.MAX_VALUE;
    double[] ratios = new double[41];
    for (int i = 0; i < ratios.length; i++) {
      double seconds = secondsOfAStart(launchers.shell());
      Shell withoutArchive = launchers.shell().with("RMSNORM_OPTS", "-XX:AOTMode=off");
      ratios[i] = seconds / secondsOfAStart(withoutArchive);
      best = Math.min(best, seconds);
    }
    Arrays.sort(ratios);
    double median = ratios[ratios.length / 2];
    System.out.printf("a start: %.2f s, %.2f of one without the archive%n", best, median);
    assertThat(best).as("seconds for the quickest start").isLessThan(1);
    assertThat(median).as("of a start without the archive").isLessThan(0.87);
  }

  private static double secondsOfAStart(Shell shell) throws IOException, InterruptedException {
    long start = System.nanoTime();
    Result result =
        shell.run("/bin/sh", "-c", "\"$0\" --version; times", checkout.resolve("rmsnorm"));
    double clock = (System.nanoTime() - start) / 1e9;
    assertThat(result.err()).isEmpty();
    assertThat(result.out()).startsWith("rmsnorm ");
    return Math.min(clock, processorSeconds(result.out()));
  }

  /** The last line is of the processes that the shell started: 0m0.31s 0m0.04s. */
  private static double processorSeconds(String out) {
    Matcher times = TIMES.matcher(out);
    assertThat(times.find()).as(out).isTrue();
    return 60 * Double.parseDouble(times.group(1))
        + Double.parseDouble(times.group(2))
        + 60 * Double.parseDouble(times.group(3))
        + Double.parseDouble(times.group(4));
  }

  /** Without its compiler the library would warn; doctor says the same on standard output. */
  @Test
  void doctorSaysWhatIsSlowWithoutAWarning() throws IOException, InterruptedException {
    Result result =
        launchers.shell().with("RMSNORM_OPTS", "-Xint").run(checkout.resolve("rmsnorm"), "doctor");
    assertThat(result.err()).isEmpty();
    assertThat(result.out().replaceAll("\\s+", " ")).contains("Java loops", "start without -Xint");
  }

  /** None of these is installed but C, as in a container. */
  @ParameterizedTest
  @CsvSource({
    "'', '', C",
    "'', '', ''",
    "'', POSIX, en_US.UTF-8",
    "xx_XX.UTF-8, '', ''",
    "'', xx_XX.UTF-8, C.UTF-8",
    "'', '', xx_XX.ISO-8859-1",
    "no-locale, C.UTF-8, C.UTF-8"
  })
  void namesBeyondAsciiAndCdpathDoNoHarm(String all, String type, String language)
      throws IOException, InterruptedException {
    Path file = Files.writeString(checkout.resolve("\u00e9\u65e5.npy"), "");
    Result result =
        launchers
            .shell()
            .with("LC_ALL", all)
            .with("LC_CTYPE", type)
            .with("LANG", language)
            .with("CDPATH", checkout.getParent())
            .run("/bin/sh", "-c", "cd \"$0\" >/dev/null && ./rmsnorm show *.npy", checkout);
    // Where it is bash, sh itself complains.
    assertThat(result.err().replaceAll("(?m)^.*: warning: setlocale.*\\R", ""))
        .isEqualTo("rmsnorm show: " + file.getFileName() + ": the file is empty\n");
    Files.delete(file);
  }

  /** The commands of other modules have their help without their modules. */
  @Test
  void aHelpBuildsNothing() throws IOException, InterruptedException {
    for (String words :
        List.of(
            "compare --help",
            "spark -h",
            "help bench",
            "spark x.parquet --help",
            "story --like llama -h")) {
      Result help =
          launchers.shell().run("/bin/sh", "-c", "\"$0\" " + words, checkout + "/rmsnorm");
      assertThat(help.err()).isEmpty();
      assertThat(help.out())
          .startsWith("Usage: rmsnorm " + words.replaceAll("^help | .*", ""))
          .contains("Examples:");
    }
    assertThat(checkout.resolve("studies/target")).doesNotExist();
  }

  /** As after story, before demo. */
  @Test
  void aLargerJarServesTheSmallerCommandsWhileItIsFresh() throws IOException, InterruptedException {
    Path other = launchers.copyOfCheckout("larger jar");
    Path run = Files.createDirectories(other.resolve("studies/target")).resolve("run");
    Launchers.copy(checkout.resolve("cli/target/run"), run);
    FileTime now = FileTime.from(Instant.now());
    Files.setLastModifiedTime(run.resolve("rmsnorm.jar"), now);
    Result result = launchers.shell().run(other.resolve("rmsnorm"), "demo", "3", "4");
    assertThat(result.err()).isEmpty();
    assertThat(result.out()).contains("0.8485");
    assertThat(other.resolve("cli/target")).doesNotExist();

    Files.setLastModifiedTime(
        other.resolve("studies/pom.xml"), FileTime.from(now.toInstant().plusSeconds(60)));
    assertThat(launchers.shell().run(other.resolve("rmsnorm"), "demo", "3", "4"))
        .satisfies(built -> builtAndRan(built, "0.8485"));
    assertThat(other.resolve("cli/target/run/rmsnorm.jar")).exists();
  }

  @Test
  void theVectorApiComesWithoutAWarning() throws IOException, InterruptedException {
    Result result =
        launchers
            .shell()
            .with("RMSNORM_OPTS", "-Drmsnorm4j.machineCode=false")
            .run(checkout.resolve("rmsnorm"), "doctor");
    assertThat(result.err()).isEmpty();
    assertThat(result.out().replaceAll("\\s+", " "))
        .containsPattern("Kernels plain Java, later \\d+-bit vectors, native access")
        .contains("the Vector API is there");
  }

  @Test
  void runsFromAnywhereThroughLinks() throws IOException, InterruptedException {
    Path links = Files.createDirectory(folder.resolve("some links"));
    Files.createSymbolicLink(links.resolve("absolute"), checkout.resolve("rmsnorm"));
    Files.createSymbolicLink(links.resolve("relative"), Path.of("absolute"));
    assertThat(launchers.shell().run(links.resolve("relative"), "--version").out())
        .startsWith("rmsnorm ");
  }

  @Test
  void argumentsAndStatusArePassedOn() throws IOException, InterruptedException {
    Result result = launchers.shell().run(checkout.resolve("rmsnorm"), "demo", "a b  *");
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains("'a b  *'").hasLineCount(1);
  }

  @Test
  void standardOutputThatFailsIsAFailure() throws IOException, InterruptedException {
    String command = "'" + checkout.resolve("rmsnorm") + "' demo >&-";
    Result result = launchers.shell().run("/bin/sh", "-c", command);
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.err()).startsWith("rmsnorm: cannot write to standard output").hasLineCount(1);
  }

  @Test
  void aReaderWhoHasSeenEnoughIsNoFailure() throws IOException, InterruptedException {
    // The reader is gone before the JVM has started.
    String command = "{ '" + checkout.resolve("rmsnorm") + "' demo; echo $? >&2; } | true";
    assertThat(launchers.shell().run("/bin/sh", "-c", command).err()).isEqualTo("0\n");
  }

  @Test
  void theEnvironmentGivesTheJvmOptions() throws IOException, InterruptedException {
    Result result =
        launchers
            .shell()
            .with("RMSNORM_OPTS", "-Xmx64m -XX:+UseSerialGC")
            .run(checkout.resolve("rmsnorm"), "doctor");
    assertThat(result.err()).isEmpty();
    assertThat(result.out().replaceAll("\\s+", " ")).contains("heap may take 0.1 GiB");
  }

  @Test
  void optionsForTheJvmAreNoPatternsOfFileNames() throws IOException, InterruptedException {
    Shell shell = launchers.shell().with("RMSNORM_OPTS", "-versio?");
    assertThat(shell.run("touch", "./-version").status()).isZero();
    Result result = shell.run(checkout.resolve("rmsnorm"), "--version");
    assertThat(result.err()).contains("-versio?");
    assertThat(result.status()).isOne();
  }

  @Test
  void aBrokenArchiveChangesNothing() throws IOException, InterruptedException {
    Path archive = checkout.resolve("cli/target/run/rmsnorm.aot");
    byte[] bytes = Files.readAllBytes(archive);
    for (int size : new int[] {0, 1000, bytes.length / 2}) {
      Files.write(archive, Arrays.copyOf(bytes, size));
      Result result = launchers.shell().run(checkout.resolve("rmsnorm"), "--version");
      assertThat(result.err()).isEmpty();
      assertThat(result.out()).startsWith("rmsnorm ");
    }
    Files.write(archive, bytes);
  }

  @Test
  void changedSourcesAreBuiltAgainAlsoByTwoAtOnce() throws IOException, InterruptedException {
    Path other = launchers.copyOfCheckout("changing sources");
    Launchers.copy(checkout.resolve("cli/target"), other.resolve("cli/target"));
    Path jar = other.resolve("cli/target/run/rmsnorm.jar");
    FileTime old = FileTime.from(Instant.now().minusSeconds(3600));
    Files.setLastModifiedTime(jar, old);

    Running one = launchers.shell().start(other.resolve("rmsnorm"), "demo", "3", "4");
    Running two = launchers.shell().start(other.resolve("rmsnorm"), "demo", "5", "12");
    assertThat(one.result()).satisfies(result -> builtAndRan(result, "0.8485"));
    assertThat(two.result()).satisfies(result -> builtAndRan(result, "0.5439"));

    assertThat(Files.getLastModifiedTime(jar)).isGreaterThan(old);
    try (Stream<Path> left = Files.list(jar.getParent())) {
      assertThat(left.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder("rmsnorm.jar", "rmsnorm.aot");
    }
    assertThat(launchers.shell().run(other.resolve("rmsnorm"), "--version").err()).isEmpty();
  }

  private static void builtAndRan(Result result, String figure) {
    assertThat(result.err()).isEqualTo(BUILDING);
    assertThat(result.out()).contains(figure);
    assertThat(result.status()).isZero();
  }

  @Test
  void sourcesThatDoNotCompileAreNamed() throws IOException, InterruptedException {
    Path other = launchers.copyOfCheckout("broken sources");
    Path source = other.resolve("core/src/main/java/io/github/rmsnorm4j/ElementType.java");
    Files.writeString(source, "this is not Java");
    Result result = launchers.shell().run(other.resolve("rmsnorm"), "--version");
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).startsWith(BUILDING).contains("ElementType.java", "the build failed");
    assertThat(other.resolve("cli/target/run/build.log")).isNotEmptyFile();
  }

  /** Of what stops Maven before it can say anything in its own way. */
  @Test
  void theLastWordsOfABuildThatCouldNotStartAreShown() throws IOException, InterruptedException {
    Path other = launchers.copyOfCheckout("no maven");
    Files.writeString(other.resolve("mvnw"), "echo 'mvnw: the disk is upside down' >&2; exit 1\n");
    Result result = launchers.shell().run(other.resolve("rmsnorm"), "--version");
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.err())
        .startsWith(BUILDING + "mvnw: the disk is upside down\n")
        .contains("the build failed; all it said is in ")
        .hasLineCount(3);
  }

  /** As under cron, or in some containers. */
  @Test
  void withoutHomeTheFolderThatTheSystemKnowsIsTaken() throws IOException, InterruptedException {
    assumeThat(System.getenv("HOME")).isEqualTo(System.getProperty("user.home"));
    Result result = launchers.shell().without("HOME").run(checkout.resolve("mvnw"), "--version");
    assertThat(result.err()).isEmpty();
    assertThat(result.out()).contains("Apache Maven");
    assertThat(result.status()).isZero();
  }

  @Test
  void aFolderThatCannotBeWrittenIsNamed() throws IOException, InterruptedException {
    Path other = launchers.copyOfCheckout("unwritable");
    // A file where the folder should be stops even root, whom permissions do not.
    Files.createFile(other.resolve("cli/target"));
    Result result = launchers.shell().run(other.resolve("rmsnorm"), "--version");
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.err())
        .isEqualTo(
            "rmsnorm: cannot write to "
                + other.toRealPath().resolve("cli/target/run")
                + ", where the command line is built\n");
  }

  @Test
  void withoutAJdkBothSayWhatIsMissing() throws IOException, InterruptedException {
    for (String program : List.of("rmsnorm", "mvnw")) {
      Result result =
          launchers
              .shellWithoutJdk()
              .with("HOME", folder)
              .run(checkout.resolve(program), "--version");
      assertThat(result.status()).isEqualTo(1);
      assertThat(result.out()).isEmpty();
      assertThat(result.err()).startsWith("rmsnorm4j needs a JDK 25 or newer").hasLineCount(1);
    }
  }

  @Test
  void mavenRunsOnTheJdkThatWasFoundAndSaysNothingElse() throws IOException, InterruptedException {
    Result result =
        launchers.shell().run(checkout.resolve("mvnw"), "-q", "-N", "-f", checkout, "validate");
    assertThat(result).isEqualTo(new Result(0, "", ""));
    assertThat(launchers.shell().run(checkout.resolve("mvnw"), "--version").out())
        .contains("Java version: " + Runtime.version().feature());
  }
}
