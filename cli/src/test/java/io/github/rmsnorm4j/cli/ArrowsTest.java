package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The arrows between the modules, as their poms draw them; code cannot use what is not there. */
class ArrowsTest {
  private static final Pattern DEPENDENCY = Pattern.compile("(?s)<dependency>(.*?)</dependency>");
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>([^<]+)</artifactId>");
  private static final Set<String> TESTS_ONLY =
      Set.of("archunit", "selenium-chrome-driver", "jlama-core", "guava", "slf4j-api");

  @ParameterizedTest
  @CsvSource({
    "core, jspecify", // for the compiler alone
    "cuda, rmsnorm4j",
    "cuda/check, rmsnorm4j-cuda",
    "formats, rmsnorm4j jackson-core jackson-databind", // the latter for its tests
    "measure, rmsnorm4j",
    "report, rmsnorm4j-formats jackson-core chart.js",
    "transformer, rmsnorm4j rmsnorm4j-formats jackson-core openblas javacpp",
    "checkpoint, rmsnorm4j rmsnorm4j-formats rmsnorm4j-transformer jackson-core",
    "spark, rmsnorm4j rmsnorm4j-measure spark-sql_2.13 spark-mllib_2.13 jackson-core jackson-databind",
    "cli, rmsnorm4j rmsnorm4j-cuda rmsnorm4j-cuda-check rmsnorm4j-formats rmsnorm4j-measure rmsnorm4j-report rmsnorm4j-transformer rmsnorm4j-checkpoint jackson-core jackson-databind openblas javacpp picocli progressbar"
  })
  void aModuleDependsOnTheseAlone(String module, String allowed) throws IOException {
    assertThat(dependencies(module))
        .containsExactlyInAnyOrderElementsOf(
            allowed == null ? Set.of() : Set.of(allowed.split(" ")));
  }

  @ParameterizedTest
  @CsvSource({
    "core",
    "cuda",
    "cuda/check",
    "formats",
    "measure",
    "report",
    "transformer",
    "checkpoint",
    "spark",
    "cli",
    "benchmarks",
    "oracle-tests"
  })
  void nothingDependsOnTheCommandLineOrTheBenchmarks(String module) throws IOException {
    assertThat(dependencies(module))
        .doesNotContain("rmsnorm4j-cli", "rmsnorm4j-benchmarks", "rmsnorm4j-spark");
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
