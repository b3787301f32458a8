package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.cli.testing.Shell.Result;
import io.github.rmsnorm4j.reference.Definitions;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The projects in examples, built and run as README and docs/spark.md say, against a library that
 * is installed in a repository of these tests alone.
 */
@Execution(ExecutionMode.SAME_THREAD) // Each of them uses both processors.
class ExamplesIT {
  private static final Pattern DEPENDENCY = Pattern.compile("(?s)<dependency>.*?</dependency>");
  private static final String INCUBATOR =
      "WARNING: Using incubator modules: jdk.incubator.vector\n";
  private static final double[] GAIN = {1, 1, 2, 1};
  private static final double EPSILON = 1e-6;
  private static final double[] FIRST = {1, 2, 3, 4};
  private static final double[] SECOND = {-10, 20, -30, 40};

  private static final Path STORY =
      Shell.CHECKOUT.resolve(
          "models/src/main/resources/io/github/rmsnorm4j/models/transformer/stories260K"
              + "/model.safetensors");

  @TempDir private Path folder;

  @Test
  void quickstartBuildsAndRunsAndItsNumbersAreRight() throws IOException, InterruptedException {
    install("core");
    String version = new Version().getVersion()[0].split(" ")[1];
    assertThat(folder.resolve("repository/io/github/rmsnorm4j/rmsnorm4j").resolve(version))
        .isDirectoryContaining("glob:**" + version + ".jar")
        .isDirectoryContaining("glob:**" + version + "-sources.jar")
        .isDirectoryContaining("glob:**" + version + "-javadoc.jar");

    List<String> lines = run("quickstart", "package", "");
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

  @Test
  void sparkBuildsAndRunsAndItsNumbersAreTheLibrarys() throws IOException, InterruptedException {
    install("spark");
    List<String> lines = run("spark", "compile", INCUBATOR);
    RmsNorm norm = RmsNorm.llama(4).epsilon(1e-5).gain(new float[] {0.5f, 1, 2, 1.5f}).build();
    for (int id = 0; id < 3; id++) {
      float[] row = {id, 1, -2, 3};
      norm.apply(row, row);
      assertThat(lines.get(id)).isEqualTo(id + " " + Arrays.toString(row));
    }
    assertThat(lines).hasSize(3);
  }

  /** The tokens are those of llama2.c, whatever norm the engine has. */
  @Test
  void theEngineChoosesTheSameTokensWithEitherNorm() throws IOException, InterruptedException {
    Path java = Path.of(System.getProperty("java.home"), "bin");
    String library = System.getProperty("java.class.path");
    Path source = Shell.CHECKOUT.resolve("examples/engines/llama2/Llama2.java");
    Path classes = folder.resolve("classes");
    Shell shell = new Shell(folder);
    Object[] compile = {java.resolve("javac"), "-Xlint:all", "-cp", library, "-d", classes, source};
    assertThat(shell.run(compile)).isEqualTo(new Result(0, "", ""));
    String path = library + File.pathSeparator + classes;
    Object[] engine = {java.resolve("java"), "-cp", path, "Llama2", STORY, 300};
    Result both = shell.run(engine);
    assertThat(both.err()).isEmpty();
    assertThat(both.out().lines()).hasSize(4).last().isEqualTo("The tokens are equal.");
    for (boolean isLibrary : new boolean[] {false, true}) {
      Result one = shell.run(Stream.concat(Stream.of(engine), Stream.of(isLibrary)).toArray());
      assertThat(one.out())
          .startsWith("[1, 403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315,");
    }
    Result usage = shell.run(java.resolve("java"), "-cp", path, "Llama2");
    assertThat(usage).isEqualTo(new Result(2, "", "usage: Llama2 model.safetensors [tokens]\n"));
  }

  /** The flags of Spark's JVM, which a copy of that project must have by itself. */
  @Test
  void sparkHasTheFlagsOfTheModule() {
    assertThat(Shell.CHECKOUT.resolve("examples/spark/java.options"))
        .hasSameTextualContentAs(Shell.CHECKOUT.resolve("spark/java.options"));
  }

  @Test
  void thePagesHaveTheCoordinatesOfTheProjects() throws IOException {
    assertThat(dependencies("examples/quickstart/pom.xml"))
        .isEqualTo(dependencies("README.md"))
        .hasSize(1);
    assertThat(dependencies("examples/spark/pom.xml"))
        .isEqualTo(dependencies("docs/spark.md"))
        .hasSize(3);
  }

  private static List<String> dependencies(String file) throws IOException {
    return DEPENDENCY
        .matcher(Files.readString(Shell.CHECKOUT.resolve(file)))
        .results()
        .map(dependency -> dependency.group().replaceAll("\\s+", ""))
        .toList();
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

  private void install(String module) throws IOException, InterruptedException {
    Result installed = maven("-f", copyOfTheLibrary(), "-pl", module, "-am", "install");
    assertThat(installed).isEqualTo(new Result(0, "", ""));
  }

  /** What a copy of the example prints, if all that it says on standard error is {@code err}. */
  private List<String> run(String example, String phase, String err)
      throws IOException, InterruptedException {
    Path project = folder.resolve("my project");
    copy(Shell.CHECKOUT.resolve("examples").resolve(example), project);
    Result run = maven("-f", project, phase, "exec:exec");
    assertThat(run.err()).isEqualTo(err);
    assertThat(run.status()).isZero();
    return run.out().lines().toList();
  }

  /** Plugins that the machine's own repository lacks are fetched; that one stays as it is. */
  private Result maven(Object... words) throws IOException, InterruptedException {
    Shell shell = new Shell(Files.createTempDirectory(folder, "shell "));
    Object[] command = {Shell.CHECKOUT.resolve("mvnw"), "-q", "-DskipTests"};
    return shell
        .with("JAVA_HOME", System.getProperty("java.home"))
        .with(
            "MAVEN_ARGS",
            "-Dmaven.repo.local=%s -Dmaven.repo.local.tail=%s"
                .formatted(folder.resolve("repository"), System.getProperty("localRepository")))
        .run(Stream.concat(Stream.of(command), Stream.of(words)).toArray());
  }

  private Path copyOfTheLibrary() throws IOException {
    Path copy = Files.createDirectory(folder.resolve("checkout"));
    Files.copy(Shell.CHECKOUT.resolve("pom.xml"), copy.resolve("pom.xml"));
    copy(Shell.CHECKOUT.resolve(".mvn"), copy.resolve(".mvn"));
    copy(Shell.CHECKOUT.resolve(".ci"), copy.resolve(".ci"));
    try (Stream<Path> modules = Shell.modules()) {
      for (Path module : modules.toList()) {
        Path there = copy.resolve(Shell.CHECKOUT.relativize(module));
        Path target = Files.createDirectories(there.resolve("src"));
        Files.copy(module.resolve("pom.xml"), target.resolveSibling("pom.xml"));
        if (Files.exists(module.resolve("src/main"))) {
          copy(module.resolve("src/main"), target.resolve("main"));
        }
      }
    }
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
