package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.cli.Shell.Result;
import io.github.rmsnorm4j.cli.Shell.Running;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code ./rmsnorm} and {@code ./mvnw} as a user starts them, in a copy of this checkout whose path
 * has spaces. Runs after the jars are packaged, so that all that Maven needs is there and no
 * network is asked.
 */
class LauncherIT {
  private static final String BUILDING =
      "rmsnorm: building the command line, once (this may take a minute)\n";

  private static final Pattern TIMES = Pattern.compile("(\\d+)m([\\d.]+)s (\\d+)m([\\d.]+)s\\s*$");

  @TempDir private static Path folder;
  private static Path checkout;
  private static Result firstStart;

  private static Shell shell() throws IOException {
    Path root = folder.resolve("root");
    Path jvm = Files.createDirectories(root.resolve("usr/lib/jvm"));
    Path jdk = jvm.resolve("the jdk");
    if (!Files.exists(jdk)) {
      Files.createSymbolicLink(jdk, Path.of(System.getProperty("java.home")));
    }
    return shellWithoutJdk()
        .with("RMSNORM_JDK_ROOT", root)
        .with("MAVEN_ARGS", "-o -Dmaven.repo.local=" + System.getProperty("localRepository"));
  }

  private static Shell shellWithoutJdk() throws IOException {
    return new Shell(Files.createTempDirectory(folder, "shell "));
  }

  @BeforeAll
  static void startForTheFirstTime() throws IOException, InterruptedException {
    checkout = copyOfCheckout("a checkout");
    firstStart = shell().run(checkout.resolve("rmsnorm"), "demo", "1", "2", "3", "4");
  }

  @AfterAll
  static void removeTheLinkToTheJdk() throws IOException {
    // JUnit would remove it as well, but warns of links that lead out of its folder.
    Files.deleteIfExists(folder.resolve("root/usr/lib/jvm/the jdk"));
  }

  private static Path copyOfCheckout(String name) throws IOException {
    Path copy = Files.createDirectory(folder.resolve(name));
    for (String part : List.of("rmsnorm", "mvnw", ".mvn", "pom.xml")) {
      copy(Shell.CHECKOUT.resolve(part), copy.resolve(part));
    }
    try (Stream<Path> modules = Shell.modules()) {
      for (Path module : modules.filter(path -> Files.exists(path.resolve("pom.xml"))).toList()) {
        Path target = Files.createDirectory(copy.resolve(Shell.CHECKOUT.relativize(module)));
        copy(module.resolve("pom.xml"), target.resolve("pom.xml"));
        if (Files.exists(module.resolve("java.options"))) {
          copy(module.resolve("java.options"), target.resolve("java.options"));
        }
        if (Files.exists(module.resolve("src/main"))) {
          Files.createDirectory(target.resolve("src"));
          copy(module.resolve("src/main"), target.resolve("src/main"));
        }
      }
    }
    return copy;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  @Test
  void theFirstStartBuildsWithOneLineAndRuns() {
    assertThat(firstStart.err()).isEqualTo(BUILDING);
    assertThat(firstStart.out()).startsWith("RMSNorm of 4 numbers").contains("1.4606");
    assertThat(firstStart.status()).isZero();
  }

  /** The model is in the jar, and its products are plain Java. */
  @Test
  void aStoryNeedsNothingThatIsFetched() throws IOException, InterruptedException {
    Result story = shell().run(checkout.resolve("rmsnorm"), "story", "--tokens", "3");
    assertThat(story.out()).isEqualTo("Once upon a\n");
    assertThat(story.err()).contains("plain Java").hasLineCount(1);
    assertThat(story.status()).isZero();
  }

  /** The JVM that trains has its libraries from the folder in which they are kept once fetched. */
  @Test
  void trainingsRunInAJvmThatHasOpenBlas() throws IOException, InterruptedException {
    Path natives = Files.createDirectories(checkout.resolve("cli/target/run/natives"));
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
    Result first = shell().run(train.toArray());
    assertThat(first.err()).contains("[2/2] ").doesNotContain("fetching", "WARNING");
    assertThat(first.out()).contains("RMSNorm").contains("cannot show which norm is better");
    assertThat(first.status()).isZero();
    assertThat(natives.resolve("unpacked")).isNotEmptyDirectory();

    Result again = shell().run(train.toArray());
    assertThat(again.err()).contains("holds a training: --resume continues it").hasLineCount(1);
    assertThat(again.status()).isEqualTo(2);
  }

  /** Built where it is first asked for, from what Maven has fetched for its module already. */
  @Test
  void sparkNormalisesParquet() throws IOException, InterruptedException {
    Path in = folder.resolve("three rows.parquet");
    try (InputStream rows = LauncherIT.class.getResourceAsStream("three-rows.parquet")) {
      Files.copy(rows, in);
    }
    Path out = folder.resolve("result.parquet");
    List<Object> words = new ArrayList<>(List.of(checkout.resolve("rmsnorm"), "spark", in));
    words.addAll(List.of("-o", out, "--column", "embedding", "--threads", "1"));

    Result first = shell().run(words.toArray());
    assertThat(first.err())
        .startsWith("rmsnorm spark: building the job and fetching Spark")
        .contains(out + ": 3 rows, column embedding, on local[1], ")
        .doesNotContain("WARNING");
    assertThat(first.status()).isZero();
    assertThat(out.resolve("_SUCCESS")).exists();

    Result again = shell().run(words.toArray());
    assertThat(again.err())
        .isEqualTo("rmsnorm spark: " + out + ": exists already; --force replaces it\n");
    assertThat(again.status()).isEqualTo(2);
  }

  /**
   * What counts is what a start takes, not how long it waits for a machine at work on other things.
   * So a start may prove it by the clock, or by the processor time of all its threads together,
   * which is no less than the clock would show were the machine its own.
   */
  @Test
  void laterStartsAreSilentAndQuick() throws IOException, InterruptedException {
    double best = Double.MAX_VALUE;
    for (int i = 0; i < 40 && best > 0.45; i++) {
      long start = System.nanoTime();
      Result result =
          shell().run("/bin/sh", "-c", "\"$0\" --version; times", checkout.resolve("rmsnorm"));
      double clock = (System.nanoTime() - start) / 1e9;
      assertThat(result.err()).isEmpty();
      assertThat(result.out()).startsWith("rmsnorm ");
      best = Math.min(best, Math.min(clock, processorSeconds(result.out())));
    }
    assertThat(best).as("seconds for the quickest start").isLessThan(0.5);
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
        shell().with("RMSNORM_OPTS", "-Xint").run(checkout.resolve("rmsnorm"), "doctor");
    assertThat(result.err()).isEmpty();
    assertThat(result.out().replaceAll("\\s+", " ")).contains("Java loops", "start without -Xint");
  }

  @Test
  void namesBeyondAsciiAndCdpathDoNoHarm() throws IOException, InterruptedException {
    Path file = Files.writeString(checkout.resolve("\u00e9\u65e5.npy"), "");
    Result result =
        shell()
            .with("LC_ALL", "")
            .with("LC_CTYPE", "")
            .with("LANG", "C")
            .with("CDPATH", checkout.getParent())
            .run("/bin/sh", "-c", "cd \"$0\" >/dev/null && ./rmsnorm show *.npy", checkout);
    assertThat(result.err())
        .isEqualTo("rmsnorm show: " + file.getFileName() + ": the file is empty\n");
    Files.delete(file);
  }

  @Test
  void theVectorApiComesWithoutAWarning() throws IOException, InterruptedException {
    Result result =
        shell()
            .with("RMSNORM_OPTS", "-Drmsnorm4j.machineCode=false")
            .run(checkout.resolve("rmsnorm"), "doctor");
    assertThat(result.err()).isEmpty();
    assertThat(result.out().replaceAll("\\s+", " "))
        .containsPattern("Kernels \\d+-bit vectors, native access")
        .contains("the Vector API is there");
  }

  @Test
  void runsFromAnywhereThroughLinks() throws IOException, InterruptedException {
    Path links = Files.createDirectory(folder.resolve("some links"));
    Files.createSymbolicLink(links.resolve("absolute"), checkout.resolve("rmsnorm"));
    Files.createSymbolicLink(links.resolve("relative"), Path.of("absolute"));
    assertThat(shell().run(links.resolve("relative"), "--version").out()).startsWith("rmsnorm ");
  }

  @Test
  void argumentsAndStatusArePassedOn() throws IOException, InterruptedException {
    Result result = shell().run(checkout.resolve("rmsnorm"), "demo", "a b  *");
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains("'a b  *'").hasLineCount(1);
  }

  @Test
  void standardOutputThatFailsIsAFailure() throws IOException, InterruptedException {
    String command = "'" + checkout.resolve("rmsnorm") + "' demo >&-";
    Result result = shell().run("/bin/sh", "-c", command);
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.err()).startsWith("rmsnorm: cannot write to standard output").hasLineCount(1);
  }

  @Test
  void aReaderWhoHasSeenEnoughIsNoFailure() throws IOException, InterruptedException {
    // The reader is gone before the JVM has started.
    String command = "{ '" + checkout.resolve("rmsnorm") + "' demo; echo $? >&2; } | true";
    assertThat(shell().run("/bin/sh", "-c", command).err()).isEqualTo("0\n");
  }

  @Test
  void theEnvironmentGivesTheJvmOptions() throws IOException, InterruptedException {
    Result result =
        shell()
            .with("RMSNORM_OPTS", "-Xmx64m -XX:+UseSerialGC")
            .run(checkout.resolve("rmsnorm"), "doctor");
    assertThat(result.err()).isEmpty();
    assertThat(result.out().replaceAll("\\s+", " ")).contains("heap may take 0.1 GiB");
  }

  @Test
  void aBrokenArchiveChangesNothing() throws IOException, InterruptedException {
    Path archive = checkout.resolve("cli/target/run/rmsnorm.aot");
    byte[] bytes = Files.readAllBytes(archive);
    for (int size : new int[] {0, 1000, bytes.length / 2}) {
      Files.write(archive, Arrays.copyOf(bytes, size));
      Result result = shell().run(checkout.resolve("rmsnorm"), "--version");
      assertThat(result.err()).isEmpty();
      assertThat(result.out()).startsWith("rmsnorm ");
    }
    Files.write(archive, bytes);
  }

  @Test
  void changedSourcesAreBuiltAgainAlsoByTwoAtOnce() throws IOException, InterruptedException {
    Path other = copyOfCheckout("changing sources");
    copy(checkout.resolve("cli/target"), other.resolve("cli/target"));
    Path jar = other.resolve("cli/target/run/rmsnorm.jar");
    FileTime old = FileTime.from(Instant.now().minusSeconds(3600));
    Files.setLastModifiedTime(jar, old);

    Running one = shell().start(other.resolve("rmsnorm"), "demo", "3", "4");
    Running two = shell().start(other.resolve("rmsnorm"), "demo", "5", "12");
    assertThat(one.result()).satisfies(result -> builtAndRan(result, "0.8485"));
    assertThat(two.result()).satisfies(result -> builtAndRan(result, "0.5439"));

    assertThat(Files.getLastModifiedTime(jar)).isGreaterThan(old);
    try (Stream<Path> left = Files.list(jar.getParent())) {
      assertThat(left.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder("rmsnorm.jar", "rmsnorm.aot");
    }
    assertThat(shell().run(other.resolve("rmsnorm"), "--version").err()).isEmpty();
  }

  private static void builtAndRan(Result result, String figure) {
    assertThat(result.err()).isEqualTo(BUILDING);
    assertThat(result.out()).contains(figure);
    assertThat(result.status()).isZero();
  }

  @Test
  void sourcesThatDoNotCompileAreNamed() throws IOException, InterruptedException {
    Path other = copyOfCheckout("broken sources");
    Path source = other.resolve("core/src/main/java/io/github/rmsnorm4j/ElementType.java");
    Files.writeString(source, "this is not Java");
    Result result = shell().run(other.resolve("rmsnorm"), "--version");
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).startsWith(BUILDING).contains("ElementType.java", "the build failed");
    assertThat(other.resolve("cli/target/run/build.log")).isNotEmptyFile();
  }

  /** Of what stops Maven before it can say anything in its own way. */
  @Test
  void theLastWordsOfABuildThatCouldNotStartAreShown() throws IOException, InterruptedException {
    Path other = copyOfCheckout("no maven");
    Files.writeString(other.resolve("mvnw"), "echo 'mvnw: the disk is upside down' >&2; exit 1\n");
    Result result = shell().run(other.resolve("rmsnorm"), "--version");
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
    Result result = shell().without("HOME").run(checkout.resolve("mvnw"), "--version");
    assertThat(result.err()).isEmpty();
    assertThat(result.out()).contains("Apache Maven");
    assertThat(result.status()).isZero();
  }

  @Test
  void aFolderThatCannotBeWrittenIsNamed() throws IOException, InterruptedException {
    Path other = copyOfCheckout("unwritable");
    // A file where the folder should be stops even root, whom permissions do not.
    Files.createFile(other.resolve("cli/target"));
    Result result = shell().run(other.resolve("rmsnorm"), "--version");
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
          shellWithoutJdk().with("HOME", folder).run(checkout.resolve(program), "--version");
      assertThat(result.status()).isEqualTo(1);
      assertThat(result.out()).isEmpty();
      assertThat(result.err()).startsWith("rmsnorm4j needs a JDK 25 or newer").hasLineCount(1);
    }
  }

  @Test
  void mavenRunsOnTheJdkThatWasFoundAndSaysNothingElse() throws IOException, InterruptedException {
    Result result = shell().run(checkout.resolve("mvnw"), "-q", "-N", "-f", checkout, "validate");
    assertThat(result).isEqualTo(new Result(0, "", ""));
    assertThat(shell().run(checkout.resolve("mvnw"), "--version").out())
        .contains("Java version: " + Runtime.version().feature());
  }
}
