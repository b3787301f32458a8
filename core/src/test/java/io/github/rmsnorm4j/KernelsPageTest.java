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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * dev-docs/kernels.md shows a variant as a diff of the formulas alone. A copy of the sources with
 * that diff compiles, and has the variant on every backend.
 */
class KernelsPageTest {
  private static final Path MAIN = Path.of("src", "main", "java");
  private static final Path FORMULA =
      MAIN.resolve(Path.of("io", "github", "rmsnorm4j", "internal", "formula"));
  private static final Path TESTS = Path.of("src", "test", "java");
  private static final Pattern DIFF = Pattern.compile("(?s)```diff\n(.*?)```");

  /** Both directions on every backend, against the norm and a product. */
  private static final String PROGRAM =
      """
      package io.github.rmsnorm4j;

      import io.github.rmsnorm4j.internal.backend.Call;
      import io.github.rmsnorm4j.internal.backend.NormChoices;
      import io.github.rmsnorm4j.internal.backend.RowMemory;
      import io.github.rmsnorm4j.internal.formula.Backward;
      import io.github.rmsnorm4j.internal.formula.BackwardFormula;
      import io.github.rmsnorm4j.internal.formula.Forward;
      import io.github.rmsnorm4j.internal.formula.ForwardFormula;
      import io.github.rmsnorm4j.internal.formula.Tensor;
      import io.github.rmsnorm4j.internal.norm.Plans;
      import io.github.rmsnorm4j.internal.norm.Runner;
      import io.github.rmsnorm4j.internal.norm.SumsOverRows;
      import java.lang.foreign.Arena;
      import java.lang.foreign.MemorySegment;
      import java.util.Arrays;

      /** The masked norm on a backend against the norm and a product. */
      class Example {
        static final int ROWS = 3;
        final Backend backend;
        final NormSpec spec;
        final ElementType type;
        final int width;
        final Arena arena = Arena.ofAuto();
        final RowMemory[] rows = new RowMemory[Tensor.Access.ELEMENT.places()];

        Example(Backend backend, NormSpec spec, ElementType type, int width) {
          this.backend = backend;
          this.spec = spec;
          this.type = type;
          this.width = width;
        }

        public static void main(String[] args) {
          int calls = 0;
          for (int width : new int[] {64, 100, 1500, 66000}) {
            for (Backend backend : Backends.of(ROWS * width)) {
              for (ElementType type : ElementType.values()) {
                for (NormSpec spec : new NormSpec[] {NormSpec.RMSNORM, NormSpec.LAYERNORM}) {
                  new Example(backend, spec, type, width).check(width % 100 > 0);
                  calls++;
                }
              }
            }
          }
          System.out.println(calls);
        }

        Rows of(ElementType type, int period) {
          MemorySegment segment = arena.allocate((long) ROWS * width * type.bytes(), 64);
          for (int i = 0; i < ROWS * width; i++) {
            type.set(segment, i, (i % period - 0.4 * period) / 3);
          }
          return Rows.of(segment, type, ROWS, width);
        }

        void check(boolean isNative) {
          boolean float64 = type == ElementType.FLOAT64;
          ElementType compute = float64 ? type : ElementType.FLOAT32;
          Rows x = of(type, 17), z = of(type, 13), dy = of(type, 11);
          Rows y = of(type, 3), dx = of(type, 3);
          double[] gain = new double[width];
          float[] floats = new float[width];
          Arrays.setAll(gain, i -> floats[i] = 1 + (i % 5) / 4f);
          Norm norm = spec.builder(width).gain(gain).backend(backend).threads(1).build();

          Rows plain = of(compute, 3), masked = of(compute, 3), wantedDx = of(type, 3);
          Saved saved = new Saved(Keep.INPUT, ROWS);
          norm.apply(x, plain, saved);
          for (int i = 0; i < ROWS * width; i++) {
            compute.set(masked.segment(), i, product(dy, z, i));
          }
          double[] wantedSums = new double[width];
          ParameterGradients gradients = ParameterGradients.assigned(wantedSums, null);
          norm.backward(masked, saved, wantedDx, gradients);

          CallMemory memory = new CallMemory(isNative);
          for (Object[] row : new Object[][] {{Forward.X, x}, {Forward.MASK, z}, {Forward.Y, y}}) {
            rows[((Tensor) row[0]).place()] = memory.of((Rows) row[1], 1);
          }
          NormChoices choices = new NormChoices(spec, width, width, spec.epsilon(type));
          Plans plans = new Plans(backend::machineBits, backend::kernelBits, backend.hasLoops(), null);
          Object factors = float64 ? gain : floats;
          ForwardFormula forward = ForwardFormula.of(spec, type, compute, false);
          Runner.run(new Call(choices, forward, rows, factors, null, null, null, null), plans, ROWS, 1);
          for (int i = 0; i < ROWS * width; i++) {
            require("y", i, y, product(plain, z, i));
          }

          rows[Forward.Y.place()] = null;
          rows[Backward.DY.place()] = memory.of(dy, 1);
          rows[Backward.DX.place()] = memory.of(dx, 1);
          BackwardFormula backward = new BackwardFormula(spec, false, false, true, false, true, false);
          Call call = new Call(choices, backward, rows, factors, null, null, null, null);
          double[] sums = new double[width];
          SumsOverRows.run(
              call,
              plans,
              ROWS,
              1,
              1,
              1,
              (ofGain, ofBias, at, sample) -> {
                for (int i = 0; i < width; i++) {
                  sums[i] = float64 ? ((double[]) ofGain)[i] : ((float[]) ofGain)[i];
                }
              });
          for (int i = 0; i < ROWS * width; i++) {
            require("dx", i, dx, type.get(wantedDx.segment(), i));
          }
          for (int i = 0; i < width; i++) {
            if (sums[i] != wantedSums[i]) {
              throw new AssertionError("dgain[" + i + "] of " + this);
            }
          }
        }

        double product(Rows a, Rows b, int i) {
          double product = a.type().get(a.segment(), i) * b.type().get(b.segment(), i);
          return type == ElementType.FLOAT64 ? product : (float) product;
        }

        void require(String name, int i, Rows found, double wanted) {
          double is = found.type().get(found.segment(), i);
          if (Double.compare(is, found.type().round(wanted)) != 0) {
            throw new AssertionError(name + "[" + i + "] is " + is + ", not " + wanted + ": " + this);
          }
        }

        @Override
        public String toString() {
          return backend + ", " + spec + ", " + type + ", width " + width;
        }
      }
      """;

  @TempDir Path folder;

  @Tag("long")
  @Test
  void theExampleHasTheBitsOfTheNormAndAProduct() throws Exception {
    String page = Files.readString(Path.of("..", "dev-docs", "kernels.md"));
    String diff = found(DIFF, page);
    assertThat(diff.lines().filter(KernelsPageTest::isChanged).count()).isLessThanOrEqualTo(40);
    copy(MAIN);
    copy(TESTS);
    List<Path> files = apply(diff);
    assertThat(files).allMatch(file -> file.startsWith(folder.resolve(FORMULA)));
    List<Path> sources = new ArrayList<>(files(folder.resolve(MAIN)));
    sources.remove(folder.resolve(MAIN).resolve("module-info.java"));
    sources.add(Files.writeString(folder.resolve("Example.java"), PROGRAM));
    compile(sources);
    ChildJvm example = run();
    assertThat(example.status()).as(example.output()).isZero();
    String last = example.output().lines().toList().getLast();
    assertThat(Integer.parseInt(last)).isGreaterThanOrEqualTo(4 * 4 * 2 * 2);

    // Without the stage of the output the bits are others.
    Path forward = Path.of("Forward.java");
    String line = "    v = storage.has(MASK) ?";
    Path changed = folder.resolve(FORMULA).resolve(forward);
    List<String> without =
        Files.readAllLines(changed).stream().filter(l -> !l.startsWith(line)).toList();
    compile(List.of(Files.write(folder.resolve(forward), without)));
    ChildJvm unchanged = run();
    assertThat(unchanged.status()).isNotZero();
    assertThat(unchanged.output()).contains("y[").contains(", not ");
  }

  private static boolean isChanged(String line) {
    return line.matches("[+-]($|[^+-]).*");
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

  /** Applies a diff of this module's files, and returns them; each hunk has to fit in one place. */
  private List<Path> apply(String diff) throws IOException {
    List<Path> changed = new ArrayList<>();
    for (String file : diff.split("(?m)^--- a/core/.*\n\\+\\+\\+ b/core/")) {
      String[] hunks = file.split("(?m)^@@ .*\n");
      Path path = folder.resolve(hunks[0].strip());
      if (hunks.length > 1) {
        changed.add(path);
      }
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
    return changed;
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
