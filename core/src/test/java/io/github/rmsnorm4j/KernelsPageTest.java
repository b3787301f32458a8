package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/kernels.md shows a variant as a diff. A copy of the sources with that diff compiles, and has
 * the bits of the contract as the diff extends it.
 */
class KernelsPageTest {
  private static final Path MAIN = Path.of("src", "main", "java");
  private static final Path TESTS = Path.of("src", "test", "java");
  private static final Path FORWARD =
      MAIN.resolve(Path.of("io", "github", "rmsnorm4j", "internal", "formula", "Forward.java"));
  private static final Pattern DIFF = Pattern.compile("(?s)```diff\n(.*?)```");
  private static final Pattern USE = Pattern.compile("A user then writes\\s+`([^`]+)`");

  /** Some of the calls of {@link BitEqualityTest}, and then a look at one norm. */
  private static final String PROGRAM =
      """
      package io.github.rmsnorm4j;

      import java.util.Collections;
      import java.util.List;
      import java.util.Random;

      class Example {
        public static void main(String[] args) {
          System.out.println(squaredCalls());
          float[] g = new float[4096], x = new float[g.length];
          for (int i = 0; i < g.length; i++) {
            x[i] = i %% 7 - 2.5f;
            g[i] = i %% 5 - 1.7f;
          }
          Norm norm = %s;
          float[] y = new float[g.length], plain = new float[g.length];
          Saved saved = new Saved(Keep.INPUT, 1);
          norm.apply(x, y, saved);
          RmsNorm.builder(g.length).gain(g).build().apply(x, plain);
          for (int i = 0; i < g.length; i++) {
            if (y[i] != plain[i] * g[i]) {
              throw new AssertionError("y[" + i + "] is " + y[i]);
            }
          }
          System.out.println(norm);
          System.out.println(NormSpec.parse(norm.spec().toString()).equals(norm.spec()));
          try {
            norm.backward(x, saved, y, null);
          } catch (UnsupportedOperationException e) {
            System.out.println(e.getMessage());
          }
        }

        private static int squaredCalls() {
          List<Recipe> recipes = Recipe.all(Direction.FORWARD);
          recipes.removeIf(recipe -> (recipe.choice() & 1) == 0); // Calls without a gain.
          Collections.shuffle(recipes, new Random(24));
          int squared = 0;
          for (Recipe recipe : recipes.subList(0, 40)) {
            Case drawn = Case.of(recipe);
            for (Backend backend : Backends.of(drawn.shape().elements())) {
              drawn.check(backend, 1);
            }
            squared += drawn.norm().spec().squaredGain() ? 1 : 0;
          }
          return squared;
        }
      }
      """;

  @TempDir Path folder;

  @Test
  void theExampleHasTheBitsOfTheContract() throws Exception {
    String page = Files.readString(Path.of("..", "docs", "kernels.md"));
    copy(MAIN);
    copy(TESTS);
    apply(found(DIFF, page));
    List<Path> sources = new ArrayList<>(files(folder.resolve(MAIN)));
    sources.remove(folder.resolve(MAIN).resolve("module-info.java"));
    Path program = folder.resolve("Example.java");
    sources.add(Files.writeString(program, PROGRAM.formatted(found(USE, page))));
    compile(sources);
    ChildJvm example = run();
    assertThat(example.status()).as(example.output()).isZero();
    List<String> lines = example.output().lines().filter(line -> !line.contains("WARN")).toList();
    String norm = "RmsNorm(4096, rmsnorm(gain=squared), gain)";
    assertThat(lines.subList(1, lines.size()))
        .containsExactly(norm, "true", "norm is " + norm + ", its gradients are unknown");
    assertThat(Integer.parseInt(lines.getFirst())).isBetween(10, 30);

    // Without the line of the formula the contract differs.
    compile(List.of(Files.copy(FORWARD, folder.resolve("Forward.java"))));
    ChildJvm unchanged = run();
    assertThat(unchanged.status()).isNotZero();
    assertThat(unchanged.output()).contains("gain=squared").contains(", the contract says ");
  }

  private static String found(Pattern pattern, String page) {
    Matcher matcher = pattern.matcher(page);
    assertThat(matcher.find()).isTrue();
    return matcher.group(1);
  }

  private static List<Path> files(Path sources) throws IOException {
    try (Stream<Path> files = Files.walk(sources)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  private void copy(Path sources) throws IOException {
    for (Path file : files(sources)) {
      Path copy = folder.resolve(file);
      Files.createDirectories(copy.getParent());
      Files.copy(file, copy);
    }
  }

  /** Applies a diff of this module's files; each hunk has to fit in one place. */
  private void apply(String diff) throws IOException {
    for (String file : diff.split("(?m)^--- a/core/.*\n\\+\\+\\+ b/core/")) {
      String[] hunks = file.split("(?m)^@@ .*\n");
      Path path = folder.resolve(hunks[0].strip());
      for (int i = 1; i < hunks.length; i++) {
        List<String> lines = Files.readAllLines(path);
        List<String> before = lines(hunks[i], "+");
        int at = Collections.indexOfSubList(lines, before);
        assertThat(at).as("%s:%n%s", path, hunks[i]).isNotNegative();
        assertThat(Collections.lastIndexOfSubList(lines, before)).as(hunks[i]).isEqualTo(at);
        List<String> place = lines.subList(at, at + before.size());
        place.clear();
        place.addAll(lines(hunks[i], "-"));
        Files.write(path, lines);
      }
    }
  }

  private static List<String> lines(String hunk, String without) {
    return hunk.lines()
        .filter(line -> !line.startsWith(without))
        .map(line -> line.substring(1))
        .toList();
  }

  /** The classes, with the jars of the tests and without the classes of this build. */
  private String classPath() {
    List<String> entries = new ArrayList<>(List.of(folder.resolve("classes").toString()));
    Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.endsWith(".jar"))
        .forEach(entries::add);
    return String.join(File.pathSeparator, entries);
  }

  /** Compiles sources, and what they use of the tests. */
  private void compile(List<Path> sources) {
    List<String> words = new ArrayList<>(List.of("-nowarn", "-proc:none", ChildJvm.VECTORS));
    words.addAll(List.of("-d", folder.resolve("classes").toString(), "-cp", classPath()));
    words.addAll(List.of("--source-path", folder.resolve(TESTS).toString()));
    sources.forEach(source -> words.add(source.toString()));
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(null, errors, errors, words.toArray(String[]::new));
    assertThat(status).as(errors.toString()).isZero();
  }

  private ChildJvm run() throws IOException, InterruptedException {
    List<String> words = ChildJvm.flags("-cp", classPath(), "io.github.rmsnorm4j.Example");
    return ChildJvm.run(ChildJvm.java(words).redirectErrorStream(true));
  }
}
