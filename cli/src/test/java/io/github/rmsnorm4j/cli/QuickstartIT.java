package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cli.Shell.Result;
import io.github.rmsnorm4j.reference.Definitions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The project in examples/quickstart, built and run as README says, against a library that is
 * installed in a repository of this test alone.
 */
class QuickstartIT {
  private static final Path PROJECT = Shell.CHECKOUT.resolve("examples/quickstart");
  private static final double[] GAIN = {1, 1, 2, 1};
  private static final double EPSILON = 1e-6;
  private static final double[] FIRST = {1, 2, 3, 4};
  private static final double[] SECOND = {-10, 20, -30, 40};

  @TempDir private Path folder;

  @Test
  void itBuildsAndRunsAndItsNumbersAreRight() throws IOException, InterruptedException {
    Path repository = folder.resolve("repository");
    Path sources = copyOfTheLibrary();
    Result installed = maven(repository, "-f", sources, "-pl", "core", "-am", "install");
    assertThat(installed).isEqualTo(new Result(0, "", ""));
    assertThat(repository.resolve("io/github/rmsnorm4j/rmsnorm4j/0.1.0-SNAPSHOT"))
        .isDirectoryContaining("glob:**SNAPSHOT.jar")
        .isDirectoryContaining("glob:**SNAPSHOT-sources.jar")
        .isDirectoryContaining("glob:**SNAPSHOT-javadoc.jar");

    Path project = folder.resolve("my project");
    copy(PROJECT, project);
    Result run = maven(repository, "-f", project, "package", "exec:exec");
    assertThat(run.err()).isEmpty();
    assertThat(run.status()).isZero();
    List<String> lines = run.out().lines().toList();
    assertThat(lines).hasSize(8);
    assertThat(lines.getFirst()).isEqualTo("RmsNorm(4, rmsnorm, gain)");
    // The manifest of its jar gives the leave that machine code needs; this JVM has it by a flag.
    assertThat(lines.get(1).contains("machine code")).isEqualTo(Backend.hasMachineCode());
    assertThat(numbers(lines, "y ")).containsExactly(both(norm(FIRST), norm(SECOND)), within(1e-6));
    assertThat(numbers(lines, "bfloat16 ")[0]).isCloseTo(norm(FIRST)[0], within(0.001));
    assertThat(numbers(lines, "residual "))
        .containsExactly(both(new double[] {5, 5, 5, 5}, SECOND), within(0.0));
    assertThat(numbers(lines, "its norm "))
        .containsExactly(both(norm(new double[] {5, 5, 5, 5}), norm(SECOND)), within(1e-6));
    double[] dx = both(gradient(FIRST, 0), gradient(SECOND, 3));
    assertThat(numbers(lines, "dx ")).containsExactly(dx, within(1e-5));
    // The first row's dy is 1 at element 0, the second's at element 3.
    double[] dgain = {norm(FIRST)[0] / GAIN[0], 0, 0, norm(SECOND)[3] / GAIN[3]};
    assertThat(numbers(lines, "dgain ")).containsExactly(dgain, within(1e-6));
  }

  private static double[] norm(double[] row) {
    return Definitions.rmsNorm(row, GAIN, null, EPSILON);
  }

  /** Of one element of the norm, by central differences. */
  private static double[] gradient(double[] row, int element) {
    double step = 1e-4;
    double[] dx = new double[row.length];
    for (int i = 0; i < row.length; i++) {
      double[] above = row.clone();
      double[] below = row.clone();
      above[i] += step;
      below[i] -= step;
      dx[i] = (norm(above)[element] - norm(below)[element]) / (2 * step);
    }
    return dx;
  }

  private static double[] both(double[] one, double[] other) {
    return Stream.of(one, other).flatMapToDouble(Arrays::stream).toArray();
  }

  private static double[] numbers(List<String> lines, String label) {
    String line = lines.stream().filter(l -> l.startsWith(label)).findFirst().orElseThrow();
    return Stream.of(
            line.substring(label.length()).replaceAll("[\\[\\]]|, \\.\\.\\.", "").split(","))
        .mapToDouble(Double::parseDouble)
        .toArray();
  }

  /** Plugins that the machine's own repository lacks are fetched; that one stays as it is. */
  private Result maven(Path repository, Object... words) throws IOException, InterruptedException {
    Shell shell = new Shell(Files.createTempDirectory(folder, "shell "));
    Object[] command = Stream.of(words).toArray();
    Object[] all =
        Stream.concat(
                Stream.of(Shell.CHECKOUT.resolve("mvnw"), "-q", "-DskipTests"), Stream.of(command))
            .toArray();
    return shell
        .with("JAVA_HOME", System.getProperty("java.home"))
        .with(
            "MAVEN_ARGS",
            "-Dmaven.repo.local=%s -Dmaven.repo.local.tail=%s"
                .formatted(repository, System.getProperty("localRepository")))
        .run(all);
  }

  private Path copyOfTheLibrary() throws IOException {
    Path copy = Files.createDirectory(folder.resolve("checkout"));
    Files.copy(Shell.CHECKOUT.resolve("pom.xml"), copy.resolve("pom.xml"));
    copy(Shell.CHECKOUT.resolve(".mvn"), copy.resolve(".mvn"));
    copy(Shell.CHECKOUT.resolve(".ci"), copy.resolve(".ci"));
    try (Stream<Path> modules = Files.list(Shell.CHECKOUT)) {
      for (Path module : modules.filter(path -> Files.exists(path.resolve("pom.xml"))).toList()) {
        Path target = Files.createDirectory(copy.resolve(module.getFileName()));
        Files.copy(module.resolve("pom.xml"), target.resolve("pom.xml"));
      }
    }
    Files.createDirectory(copy.resolve("core/src"));
    copy(Shell.CHECKOUT.resolve("core/src/main"), copy.resolve("core/src/main"));
    return copy;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(path -> !path.startsWith(from.resolve("target"))).toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }
}
