package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The arrows between the modules, as their poms draw them; code cannot use what is not there. */
class ArrowsTest {
  private static final Pattern DEPENDENCY = Pattern.compile("(?s)<dependency>(.*?)</dependency>");
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>([^<]+)</artifactId>");
  private static final Set<String> TESTS_ONLY =
      Set.of("archunit", "selenium-chrome-driver", "jlama-core", "guava", "slf4j-api");

  /** What each module uses; a module uses only those above it. */
  private static final String[] MODULES = {
    "core, jspecify", // for the compiler alone
    "formats, rmsnorm4j jackson-core jackson-databind", // the latter for its tests
    "models, rmsnorm4j rmsnorm4j-formats jackson-core jackson-databind",
    "cuda, rmsnorm4j",
    "measure, rmsnorm4j",
    "spark, rmsnorm4j rmsnorm4j-measure spark-sql_2.13 spark-mllib_2.13 jackson-core jackson-databind",
    "report, rmsnorm4j-formats jackson-core jackson-databind chart.js",
    "cli, rmsnorm4j rmsnorm4j-cuda rmsnorm4j-formats rmsnorm4j-measure rmsnorm4j-models rmsnorm4j-report jackson-core picocli progressbar",
    "spark/command, rmsnorm4j rmsnorm4j-measure rmsnorm4j-cli picocli",
    "studies, rmsnorm4j rmsnorm4j-cuda rmsnorm4j-formats rmsnorm4j-measure rmsnorm4j-models rmsnorm4j-report rmsnorm4j-cli jackson-databind commons-statistics-distribution openblas javacpp picocli",
    "cuda/check, rmsnorm4j-cuda",
    "lab/bench, rmsnorm4j-cuda rmsnorm4j-cuda-check rmsnorm4j-formats rmsnorm4j-measure rmsnorm4j-cli jackson-databind picocli",
    "lab/benchmarks, rmsnorm4j rmsnorm4j-measure jackson-databind jmh-core",
    "lab/peers, rmsnorm4j-benchmarks picocli pytorch openblas dnnl opencl javacpp onnxruntime",
    "lab/oracle-tests, rmsnorm4j rmsnorm4j-models pytorch openblas javacpp",
    "docs-tests, rmsnorm4j rmsnorm4j-bench rmsnorm4j-benchmarks rmsnorm4j-cli rmsnorm4j-cuda rmsnorm4j-formats rmsnorm4j-spark rmsnorm4j-spark-command rmsnorm4j-studies"
  };

  static Stream<Arguments> modules() {
    return Stream.of(MODULES)
        .map(line -> line.split(", ?", -1))
        .map(
            line ->
                Arguments.of(
                    line[0], Set.of(line[1].isEmpty() ? new String[0] : line[1].split(" "))));
  }

  @ParameterizedTest
  @MethodSource("modules")
  void aModuleDependsOnTheseAlone(String module, Set<String> allowed) throws IOException {
    assertThat(dependencies(module)).containsExactlyInAnyOrderElementsOf(allowed);
  }

  /** The list above is in such an order that there is no arrow upward. */
  @Test
  void noArrowGoesUpward() throws IOException {
    List<String> above = new ArrayList<>();
    for (Arguments module : modules().toList()) {
      String name = module.get()[0].toString();
      assertThat(above)
          .as(name)
          .containsAll(dependencies(name).stream().filter(d -> d.startsWith("rmsnorm4j")).toList());
      String pom = Files.readString(Shell.CHECKOUT.resolve(name).resolve("pom.xml"));
      above.add(artifact(pom.substring(pom.indexOf("</parent>"))));
    }
  }

  /** And it lists every module with code. */
  @Test
  void everyModuleIsListed() throws IOException {
    assertThat(modules().map(module -> module.get()[0].toString()))
        .containsExactlyInAnyOrderElementsOf(
            Shell.modules()
                .filter(module -> Files.exists(module.resolve("src")))
                .map(module -> Shell.CHECKOUT.relativize(module).toString())
                .toList());
  }

  /** What is no command on a user's files belongs into a module of its own. */
  @Test
  void theCommandLineStaysSmall() throws IOException {
    long lines = 0;
    try (Stream<Path> files = Files.walk(Shell.CHECKOUT.resolve("cli/src/main/java"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        lines += Files.readAllLines(file).size();
      }
    }
    assertThat(lines).isBetween(1L, 7300L);
  }

  private static Set<String> dependencies(String module) throws IOException {
    String pom = Files.readString(Shell.CHECKOUT.resolve(module).resolve("pom.xml"));
    return DEPENDENCY
        .matcher(pom)
        .results()
        .map(found -> artifact(found.group(1)))
        .filter(name -> !TESTS_ONLY.contains(name))
        .collect(Collectors.toSet());
  }

  private static String artifact(String dependency) {
    Matcher matcher = ARTIFACT.matcher(dependency);
    assertThat(matcher.find()).isTrue();
    return matcher.group(1);
  }
}
