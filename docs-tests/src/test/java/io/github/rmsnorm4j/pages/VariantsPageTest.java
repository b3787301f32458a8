package io.github.rmsnorm4j.pages;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.NormSpec;
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
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/variants.md: every line of Java does what the command with the text above it does, bit by
 * bit.
 */
class VariantsPageTest {
  private static final int WIDTH = 70;
  private static final Pattern JAVA_BLOCK = Pattern.compile("(?s)```java\n(.*?)```");
  private static final Pattern CHOICE = Pattern.compile("// (.+)\n((?:(?!//).+\n)+)");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]+)");

  /** The program that the lines of Java are put into. */
  private static final String PROGRAM =
      """
      import io.github.rmsnorm4j.*;
      import io.github.rmsnorm4j.formats.*;
      import java.lang.foreign.MemorySegment;
      import java.lang.foreign.ValueLayout;
      import java.nio.file.Path;
      import java.util.HexFormat;

      class Lines {
        static Rows read(String file, int width) throws Exception {
          try (TensorFile in = TensorFile.open(Path.of(file))) {
            Tensor tensor = in.tensors().getFirst();
            byte[] bytes = new byte[(int) tensor.bytes()];
            in.read(tensor, 0, tensor.elements(), MemorySegment.ofArray(bytes));
            ElementType type = tensor.dtype().elementType().get();
            return Rows.of(MemorySegment.ofArray(bytes), type, tensor.elements() / width, width);
          }
        }

        static String hex(Rows rows) {
          return HexFormat.of().formatHex((byte[]) rows.segment().heapBase().get());
        }

        static String hex(float[] row) {
          return HexFormat.of().formatHex(MemorySegment.ofArray(row).toArray(ValueLayout.JAVA_BYTE));
        }

        public static void main(String[] args) throws Exception {
          int n = %d;
          %s
        }
      }
      """;

  private static final String LINE =
      """
          {
            Rows x = read("x.npy", n), h = read("h.npy", n), y = read("x.npy", n);
            Rows g = read("g.npy", n), b = read("b.npy", n);
            Rows z = read("z.npy", n), scale = read("scale.npy", n), shift = read("shift.npy", n);
            int rows = (int) x.rows();
            %s;
            System.out.println(hex(y) + " " + hex(h));
          }
      """;

  private static final String GRADIENT_LINE =
      """
          {
            Rows x = read("x.npy", n), h = read("h.npy", n), y = read("x.npy", n);
            Rows dy = read("dy.npy", n), dx = read("dy.npy", n), g = read("g.npy", n);
            Rows z = read("z.npy", n), dz = read("dy.npy", n);
            Rows scale = read("scale.npy", n), shift = read("shift.npy", n);
            float[] dscale = new float[3 * n], dshift = new float[3 * n];
            float[] dgain = new float[n], dbias = new float[n];
            int rows = (int) x.rows();
            %s;
            System.out.println(hex(dx) + " " + hex(dgain) + " " + hex(dbias));
          }
      """;

  /** As the page says it, for lines that do not begin with a norm of their own. */
  private static final String NORM_OF_GRADIENTS =
      "Norm norm = RmsNorm.builder(n).gain(g).build(); ";

  /** Gradients of norms that the page has no lines for; a comment is the norm as text. */
  private static final String MORE_GRADIENTS =
      """
      // rmsnorm
      Saved saved = new Saved(Keep.NOTHING, rows);
      norm.apply(x, y, saved);
      norm.backward(dy, saved, dx, ParameterGradients.assigned(dgain, null))
      // With Keep.OUTPUT; the command always starts from x
      Saved saved = new Saved(Keep.OUTPUT, rows);
      norm.apply(x, y, saved);
      norm.backward(dy, saved, dx, ParameterGradients.assigned(dgain, dbias))
      // rmsnorm(residual=last)
      norm = RmsNorm.builder(n).residualRounding(ResidualRounding.LAST).build();
      Saved saved = new Saved(Keep.INPUT, rows);
      norm.addAndApply(x, h, y, saved);
      norm.backward(dy, saved, dx, ParameterGradients.assigned(dgain, null))
      // layernorm
      norm = LayerNorm.builder(n).gain(g).build();
      Saved saved = new Saved(Keep.INPUT, rows);
      norm.apply(x, y, saved);
      norm.backward(dy, saved, dx, ParameterGradients.assigned(dgain, dbias))
      // gemma
      norm = RmsNorm.gemma(n).gain(g).build();
      Saved saved = new Saved(Keep.INPUT, rows);
      norm.apply(x, y, saved);
      norm.backward(dy, saved, dx, ParameterGradients.assigned(dgain, null))
      // rmsnorm(groupcount=7)
      norm = RmsNorm.builder(n).groupCount(7).gain(g).build();
      Saved saved = new Saved(Keep.INPUT, rows);
      norm.apply(x, y, saved);
      norm.backward(dy, saved, dx, ParameterGradients.assigned(dgain, dbias))
      // rmsnorm(part=1/4)
      norm = RmsNorm.builder(n).partial(0.25).build();
      Saved saved = new Saved(Keep.INPUT, rows);
      norm.apply(x, y, saved);
      norm.backward(dy, saved, dx, null)
      """;

  @TempDir Path folder;

  @BeforeEach
  void files() throws IOException {
    double[] small = TestTensor.random("", Dtype.F64, 0.1, 1, 9, WIDTH).values();
    Arrays.setAll(small, i -> i < small.length / 2 ? small[i] * 1e-3 : small[i]);
    TestTensor.write(folder.resolve("x.npy"), TestTensor.of("", Dtype.F16, small, 9, WIDTH));
    TestTensor.write(folder.resolve("h.npy"), TestTensor.random("", Dtype.F16, 0, 2, 9, WIDTH));
    TestTensor.write(folder.resolve("dy.npy"), TestTensor.random("", Dtype.F16, 0, 5, 9, WIDTH));
    TestTensor.write(folder.resolve("z.npy"), TestTensor.random("", Dtype.F16, 0, 8, 9, WIDTH));
    TestTensor.write(folder.resolve("g.npy"), TestTensor.random("", Dtype.F16, 1, 3, WIDTH));
    TestTensor.write(folder.resolve("b.npy"), TestTensor.random("", Dtype.F32, 0, 4, WIDTH));
    TestTensor.write(folder.resolve("scale.npy"), TestTensor.random("", Dtype.F32, 0, 6, 3, WIDTH));
    TestTensor.write(folder.resolve("shift.npy"), TestTensor.random("", Dtype.F32, 0, 7, 3, WIDTH));
  }

  private static String page() throws IOException {
    return Files.readString(Shell.CHECKOUT.resolve("docs/variants.md"));
  }

  private static List<VariantLine> choices() throws IOException {
    String blocks =
        JAVA_BLOCK.matcher(page()).results().map(found -> found.group(1)).collect(joining());
    return CHOICE
        .matcher(blocks + MORE_GRADIENTS)
        .results()
        .map(found -> new VariantLine(found.group(1), found.group(2).strip()))
        .toList();
  }

  @Test
  void everyLineOfJavaGivesWhatItsCommandGives() throws Exception {
    List<VariantLine> choices = choices();
    assertThat(choices).hasSizeGreaterThan(50);
    List<String> java = results(choices);
    assertThat(java).hasSameSizeAs(choices);
    assertThat(choices).filteredOn(choice -> !choice.hasCommand()).hasSize(6);
    for (int i = 0; i < choices.size(); i++) {
      VariantLine choice = choices.get(i);
      if (!choice.hasCommand()) {
        continue; // That its Java runs is what there is to see.
      }
      assertThat(result(choice.command(List.of("--like", choice.name()))))
          .as("%s", choice)
          .isEqualTo(java.get(i));
      assertThat(result(choice.command(choice.options())))
          .as("%s, %s", choice, choice.options())
          .isEqualTo(java.get(i));
    }
  }

  /** Each line's result and residual, as a program started from its source prints them. */
  private List<String> results(List<VariantLine> choices) throws Exception {
    StringBuilder lines = new StringBuilder();
    for (VariantLine choice : choices) {
      if (choice.isGradient()) {
        String own = choice.java().contains("Norm norm = ") ? "" : NORM_OF_GRADIENTS;
        lines.append(GRADIENT_LINE.formatted(own + choice.java()));
        continue;
      }
      boolean built = choice.java().endsWith(".build()");
      lines.append(LINE.formatted(choice.java() + (built ? ".apply(x, y)" : "")));
    }
    return JavaSource.run(folder, PROGRAM.formatted(WIDTH, lines)).lines().toList();
  }

  private String result(List<String> command) throws IOException {
    String[] words =
        command.stream()
            .map(word -> word.endsWith(".npy") ? folder.resolve(word).toString() : word)
            .toArray(String[]::new);
    for (String file : List.of("y.npy", "sum.npy", "dx.npy", "dz.npy", "dgain.npy", "dbias.npy")) {
      Files.deleteIfExists(folder.resolve(file));
    }
    CommandResult result = CommandResult.of(words);
    assertThat(result.status()).as(result.err()).isZero();
    if (command.getFirst().equals("gradient")) {
      return hex("dx.npy") + " " + gradient("dgain.npy") + " " + gradient("dbias.npy");
    }
    boolean sum = command.contains("--residual-out");
    return hex("y.npy") + " " + hex(sum ? "sum.npy" : "h.npy");
  }

  /** A parameter's gradient, zeros where none was asked for. */
  private String gradient(String file) throws IOException {
    return Files.exists(folder.resolve(file)) ? hex(file) : "00".repeat(WIDTH * Float.BYTES);
  }

  private String hex(String file) throws IOException {
    return HexFormat.of().formatHex(TestTensor.read(folder.resolve(file)).bytes());
  }

  /** The norms of implementations are texts of norms; one is none. */
  @Test
  void normsOfImplementationsAreTexts() throws IOException {
    List<String> texts =
        page()
            .lines()
            .dropWhile(line -> !line.startsWith("| model | implementation | norm |"))
            .skip(2)
            .takeWhile(line -> line.startsWith("|"))
            .map(line -> line.split("\\|")[3].strip())
            .toList();
    assertThat(texts).hasSize(10);
    assertThat(texts.getLast()).startsWith("none: ");
    assertThat(texts.subList(0, texts.size() - 1))
        .allSatisfy(
            text -> assertThat("`" + NormSpec.parse(text.replace("`", "")) + "`").isEqualTo(text));
  }

  /** What can be chosen is on the page, with its line of Java. */
  @Test
  void nothingThatCanBeChosenIsMissing() throws IOException {
    List<VariantLine> choices = choices();
    NormSpec.presets()
        .forEach(
            preset -> assertThat(choices).extracting(VariantLine::name).contains(preset.name()));
    List<String> asked = new ArrayList<>();
    for (CastOrder order : CastOrder.values()) {
      asked.add("CastOrder." + order);
    }
    asked.addAll(List.of("EpsilonPlacement.INSIDE", "EpsilonPlacement.OUTSIDE"));
    asked.addAll(List.of("EpsilonPlacement.FLOOR", "Gate.SILU)", "Gate.SIGMOID", "SILU_BEFORE"));
    asked.addAll(List.of("partial(", "partialRoundedDown(", "part(", "gainOffset(", "bias(b)"));
    asked.addAll(List.of("ResidualRounding.BETWEEN", "ResidualRounding.LAST", "groupCount("));
    asked.addAll(List.of("groupSize(", "withParameters(", ".statistics(", ".backwardGated("));
    asked.addAll(List.of("saved, h, dx,", ".addAndApply(x, h, y, saved)"));
    String page = page();
    assertThat(asked).allSatisfy(java -> assertThat(page).contains(java));
  }

  @Test
  void everyLinkLeadsToAFile() throws IOException {
    assertThat(LINK.matcher(page()).results().map(found -> found.group(1)))
        .isNotEmpty()
        .allSatisfy(
            link -> assertThat(Shell.CHECKOUT.resolve("docs").resolve(link)).isRegularFile());
  }
}
