package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.JavaSource;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/pytorch.md: every line of Java gives what the Python line above it gives on libtorch. The
 * answers are kept in {@code libtorch/pytorch-page.txt}; the module lab/oracle-tests writes them,
 * and checks that libtorch still gives them.
 */
class PyTorchPageTest {
  private static final int WIDTH = 20;

  /** As the page says it: of the largest element of a row, in float32. */
  private static final String ROUNDINGS = "4 * 2^-24";

  private static final double NEAR = 4 * 0x1p-24;

  /** A norm, its line of Python, and its line of Java. */
  private static final Pattern PAIR = Pattern.compile("\n\\* (.+)\n  \\* `(.+)`\n  \\* `(.+)`");

  private static final String FLOAT32_ONLY = " (float32)";
  private static final Pattern PROGRAM_BLOCK = Pattern.compile("(?s)```java\n(.*?)```");

  /** The program that the lines of Java are put into. */
  private static final String PROGRAM =
      """
      import io.github.rmsnorm4j.*;
      import io.github.rmsnorm4j.formats.*;
      import java.lang.foreign.MemorySegment;
      import java.lang.foreign.ValueLayout;
      import java.nio.file.Path;
      import java.util.Arrays;
      import java.util.StringJoiner;

      class Lines {
        static final int n = %d;
        static final int rows = %d;

        static Rows rows(String type, String name) throws Exception {
          try (TensorFile in = TensorFile.open(Path.of(type + ".safetensors"))) {
            Tensor tensor = in.tensor(name);
            MemorySegment data = MemorySegment.ofArray(new byte[(int) tensor.bytes()]);
            in.read(tensor, 0, tensor.elements(), data);
            ElementType elements = tensor.dtype().elementType().get();
            return Rows.of(data, elements, tensor.elements() / n, n);
          }
        }

        static float[] floats(String name) throws Exception {
          Rows rows = rows("float32", name);
          float[] values = new float[Math.toIntExact(rows.rows()) * n];
          MemorySegment.ofArray(values).copyFrom(rows.segment());
          return values;
        }

        static void print(String key, float[] values) {
          StringJoiner line = new StringJoiner(" ", key + " ", "");
          for (float value : values) {
            line.add(Float.toHexString(value));
          }
          System.out.println(line);
        }

        static void print(String key, Rows bfloat16) {
          float[] values = new float[rows * n];
          for (int i = 0; i < values.length; i++) {
            short bits = bfloat16.segment().get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i);
            values[i] = Float.intBitsToFloat(bits << 16);
          }
          print(key, values);
        }

        public static void main(String[] args) throws Exception {
          %s
        }
      }
      """;

  private static final String FLOATS =
      """
          {
            float[] x = floats("x"), h = floats("h"), w = floats("w"), b = floats("b");
            float[] y = new float[rows * n];
            %s;
            System.out.println("> %d");
            print("y", y);
            print("sum", h);
          }
      """;

  private static final String GRADIENTS =
      """
          {
            float[] y0 = new float[rows * n], dx0 = new float[rows * n], h0 = floats("h");
            Rows x = Rows.of(floats("x"), n), h = Rows.of(h0, n), y = Rows.of(y0, n);
            Rows dy = Rows.of(floats("dy"), n), ds = Rows.of(floats("ds"), n);
            Rows dx = Rows.of(dx0, n);
            float[] w = floats("w"), b = floats("b"), dw = new float[n], db = new float[n];
            Saved saved = new Saved(Keep.INPUT, rows);
            %s;
            System.out.println("> %d");
            print("y", y0);
            print("sum", h0);
            print("dx", dx0);
            print("dw", dw);
            print("db", db);
          }
      """;

  private static final String ROWS_OF_BFLOAT16 =
      """
          {
            Rows x = rows("bfloat16", "x"), h = rows("bfloat16", "h"), y = rows("bfloat16", "dy");
            Rows w = rows("bfloat16", "w"), b = rows("bfloat16", "b");
            %s;
            System.out.println("> %d");
            print("y", y);
            print("sum", h);
          }
      """;

  @TempDir Path folder;

  /** A pair of lines, in one of its types. */
  private record Line(String python, String java, String type) {
    boolean isFloat32() {
      return type.equals("float32");
    }

    String title() {
      return type + " " + python;
    }
  }

  private static String page() throws IOException {
    return Files.readString(Shell.CHECKOUT.resolve("docs/pytorch.md"));
  }

  private static List<Line> lines() throws IOException {
    List<Line> lines = new ArrayList<>();
    Matcher pair = PAIR.matcher(page());
    while (pair.find()) {
      lines.add(new Line(pair.group(2), pair.group(3), "float32"));
      if (!pair.group(1).endsWith(FLOAT32_ONLY)) {
        lines.add(new Line(pair.group(2), pair.group(3), "bfloat16"));
      }
    }
    return lines;
  }

  /** By title, and then by name. */
  private static Map<String, Map<String, double[]>> numbers(List<String> text) {
    Map<String, Map<String, double[]>> sections = new LinkedHashMap<>();
    String title = null;
    for (String line : text) {
      if (line.startsWith("> ")) {
        title = line.substring(2);
        sections.put(title, new LinkedHashMap<>());
      } else if (!line.isBlank() && !line.startsWith("#")) {
        String[] words = line.split(" ");
        double[] values = Arrays.stream(words).skip(1).mapToDouble(Double::parseDouble).toArray();
        sections.get(title).put(words[0], values);
      }
    }
    return sections;
  }

  private static Map<String, Map<String, double[]>> answers() throws IOException {
    return numbers(
        Files.readAllLines(
            Shell.CHECKOUT.resolve("core/src/test/resources/libtorch/pytorch-page.txt")));
  }

  private static String block(Line line) {
    if (!line.isFloat32()) {
      return ROWS_OF_BFLOAT16;
    }
    return line.java().contains("saved") ? GRADIENTS : FLOATS;
  }

  private Map<String, Map<String, double[]>> results(List<Line> lines, int rows) throws Exception {
    StringBuilder blocks = new StringBuilder();
    for (int i = 0; i < lines.size(); i++) {
      blocks.append(block(lines.get(i)).formatted(lines.get(i).java(), i));
    }
    String out = JavaSource.run(folder, PROGRAM.formatted(WIDTH, rows, blocks));
    return numbers(out.lines().toList());
  }

  private void write(String type, Dtype dtype, Map<String, double[]> inputs) throws IOException {
    TestTensor[] tensors =
        inputs.entrySet().stream()
            .map(e -> TestTensor.of(e.getKey(), dtype, e.getValue(), e.getValue().length))
            .toArray(TestTensor[]::new);
    TestTensor.write(folder.resolve(type + ".safetensors"), tensors);
  }

  @Test
  void everyLineOfJavaGivesWhatItsPythonGives() throws Exception {
    Map<String, Map<String, double[]>> answers = answers();
    write("float32", Dtype.F32, answers.get("inputs float32"));
    write("bfloat16", Dtype.BF16, answers.get("inputs bfloat16"));
    List<Line> lines = lines();
    assertThat(lines).extracting(Line::title).hasSizeGreaterThan(25).isSubsetOf(answers.keySet());
    int rows = answers.get("inputs float32").get("x").length / WIDTH;
    Map<String, Map<String, double[]>> results = results(lines, rows);
    for (int i = 0; i < lines.size(); i++) {
      Map<String, double[]> theirs = answers.get(lines.get(i).title());
      assertThat(theirs).isNotEmpty();
      for (String key : theirs.keySet()) {
        double[] ours = results.get(String.valueOf(i)).get(key);
        double near = lines.get(i).isFloat32() ? NEAR : 0;
        compare(lines.get(i) + ", " + key, ours, theirs.get(key), near);
      }
    }
    assertThat(page()).contains(ROUNDINGS);
  }

  /**
   * @param near how far apart elements may be, as a share of the largest of their row
   */
  private static void compare(String what, double[] ours, double[] theirs, double near) {
    assertThat(ours).as(what).hasSameSizeAs(theirs);
    for (int i = 0; i < theirs.length; i++) {
      int row = i / WIDTH * WIDTH;
      double largest = Arrays.stream(theirs, row, row + WIDTH).map(Math::abs).max().orElseThrow();
      assertThat(ours[i])
          .as("%s, element %d", what, i)
          .isCloseTo(theirs[i], within(near * largest));
    }
  }

  /** The page's program, on a file that NumPy has written, beside the command. */
  @Test
  void theProgramDoesWhatTheCommandDoes() throws Exception {
    Matcher program = PROGRAM_BLOCK.matcher(page());
    assertThat(program.find()).isTrue();
    Path numpy =
        Shell.CHECKOUT.resolve("formats/src/test/resources/io/github/rmsnorm4j/formats/f4.npy");
    Path theirs = folder.resolve("command.npy");
    CommandResult command =
        CommandResult.of("normalize", numpy.toString(), "-o", theirs.toString());
    assertThat(command.status()).as(command.err()).isZero();

    Path ours = folder.resolve("program.npy");
    JavaSource.run(folder, program.group(1), numpy.toString(), ours.toString());
    assertThat(ours).hasSameBinaryContentAs(theirs);
    assertThat(program.find()).isFalse();
  }
}
