package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.cli.testing.Shell.Result;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The archive that image/build makes of the jar, unpacked elsewhere and run without a JDK. */
@Execution(ExecutionMode.SAME_THREAD) // Each of them uses both processors.
class CommandImageIT {
  private static final Path MODULE = Path.of("").toAbsolutePath();
  private static final Path ARCHIVE = MODULE.resolve("target/image/rmsnorm.tar.gz");
  private static final Path EXAMPLES = Shell.CHECKOUT.resolve("examples");

  /** dev-docs/release.md says so. */
  private static final long MOST_BYTES_PACKED = 40_000_000;

  private static final long MOST_BYTES = 80_000_000;

  @TempDir private static Path temporary;
  private static Path image;

  @BeforeAll
  static void build() throws IOException, InterruptedException {
    Result built =
        new Shell(temporary)
            .with("JAVA_HOME", System.getProperty("java.home"))
            .run(MODULE.resolve("image/build"), MODULE.resolve("target/rmsnorm.jar"));
    assertThat(built.err()).isEmpty();
    assertThat(built.out()).contains("rmsnorm.tar.gz: ");
    assertThat(built.status()).isZero();
    Path folder = Files.createDirectory(temporary.resolve("a folder with 'spaces' & ü"));
    assertThat(new Shell(temporary).run("tar", "-xzf", ARCHIVE, "-C", folder))
        .isEqualTo(new Result(0, "", ""));
    image = folder.resolve("rmsnorm");
  }

  /** Without a PATH, JAVA_HOME and a home. */
  private static Shell shell() throws IOException {
    return new Shell(temporary).with("PATH", "").without("HOME");
  }

  private static Result rmsnorm(Object... words) throws IOException, InterruptedException {
    return run(shell(), words);
  }

  private static Result run(Shell shell, Object... words) throws IOException, InterruptedException {
    return shell.run(
        Stream.concat(Stream.of(image.resolve("bin/rmsnorm")), Stream.of(words)).toArray());
  }

  /** The answer is this build's own, and no word more. */
  private static void answersLikeThisBuild(String... words)
      throws IOException, InterruptedException {
    CommandResult here = CommandResult.of(words);
    assertThat(rmsnorm((Object[]) words)).isEqualTo(new Result(0, here.out(), ""));
    assertThat(here.status()).isZero();
  }

  @Test
  void itIsAsSmallAsThePageSays() throws IOException {
    long[] bytes = new long[1];
    Files.walkFileTree(
        image,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            bytes[0] += attributes.size();
            return FileVisitResult.CONTINUE;
          }
        });
    assertThat(bytes[0]).isLessThan(MOST_BYTES);
    assertThat(Files.size(ARCHIVE)).isLessThan(MOST_BYTES_PACKED);
  }

  @Test
  void itShowsNumbersFilesAndModels() throws IOException, InterruptedException {
    answersLikeThisBuild("--version");
    answersLikeThisBuild("demo", "1", "2", "3", "4");
    answersLikeThisBuild("stats", EXAMPLES.resolve("activations.safetensors").toString());
    answersLikeThisBuild("inspect", EXAMPLES.resolve("tiny-gpt2").toString());
  }

  /** Of machine code, and of the Vector API, which is in the image though no module asks for it. */
  @Test
  void itWritesTheSameBytesWithTheSameKernels() throws IOException, InterruptedException {
    String rows = EXAMPLES.resolve("activations.safetensors") + ":layers.12.hidden";
    Path here = temporary.resolve("here.npy");
    assertThat(CommandResult.of("normalize", rows, "-o", here.toString()).status()).isZero();
    for (String options : new String[] {"", "-Drmsnorm4j.machineCode=false"}) {
      Shell shell = shell().with("RMSNORM_OPTS", options);
      Path there = temporary.resolve("there" + options + ".npy");
      assertThat(run(shell, "normalize", rows, "-o", there).status()).isZero();
      assertThat(there).hasSameBinaryContentAs(here);
      String doctor = run(shell, "doctor").out().replaceAll("\\s+", " ");
      assertThat(doctor).contains(image.toRealPath().resolve("java").toString());
      assertThat(doctor)
          .contains(
              options.isEmpty()
                  ? Backend.best().describe()
                  : Backend.withoutMachineCode().describe());
    }
    assertThat(Backend.withoutMachineCode().describe()).contains("-bit vectors");
  }

  /** A cache that is not taken ends this start, by this option. */
  @Test
  void theRememberedStartFitsInAnotherFolder() throws IOException, InterruptedException {
    assertThat(run(shell().with("RMSNORM_OPTS", "-XX:AOTMode=on"), "demo", "1").status()).isZero();
  }

  /** The others are built by a checkout's launcher. */
  @Test
  void itHasTheCommandsForFilesAlone() throws IOException, InterruptedException {
    Result result = rmsnorm("spark", "in", "-o", temporary.resolve("out"), "--column", "embedding");
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains("there is no command 'spark'").hasLineCount(1);
    assertThat(rmsnorm("--help").out()).contains("normalize").doesNotContain("spark");
  }

  @Test
  void bashCompletesItsCommands() throws IOException, InterruptedException {
    Path script = image.resolve("share/bash-completion/completions/rmsnorm");
    assertThat(CompletionTest.completed(script, "d")).contains("demo", "doctor");
    assertThat(CompletionTest.completed(script, "normalize --like g")).containsExactly("gemma");
  }

  @Test
  void aLinkStartsItAndAMissingJavaIsNamed() throws IOException, InterruptedException {
    Path link = temporary.resolve("link");
    Files.createSymbolicLink(link, image.resolve("bin/rmsnorm"));
    assertThat(new Shell(temporary).run(link, "--version").out()).startsWith("rmsnorm ");

    Path alone = Files.createDirectories(temporary.resolve("alone/bin")).resolve("rmsnorm");
    Files.copy(image.resolve("bin/rmsnorm"), alone);
    Path top = alone.toRealPath().getParent().getParent();
    assertThat(shell().run(alone))
        .isEqualTo(
            new Result(
                1,
                "",
                "rmsnorm: there is no Java that can be run in "
                    + top.resolve("java")
                    + ": unpack the archive again\n"));
  }
}
