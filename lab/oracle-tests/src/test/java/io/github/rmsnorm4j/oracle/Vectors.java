package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.oracle.CaseGenerator.Distribution;
import io.github.rmsnorm4j.oracle.CaseGenerator.Parameters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The small cases whose answers the library's own build keeps, and how a file holds them. */
final class Vectors {
  private static final int[] WIDTHS = {1, 2, 3, 5, 8, 17, 33, 64};
  private static final double[] EPSILONS = {1e-6, 1e-5, 0.1, 0};

  private static final double[] TOKEN = {
    -0.5041, 0.8920, -0.4989, -1.3071, 0.4685, -0.1527, 1.4497, -0.7099
  };

  private Vectors() {}

  /** The cases of a type, one row each. */
  static List<NormCase> cases(ElementType type) {
    List<NormCase> cases = new ArrayList<>();
    for (boolean centred : new boolean[] {false, true}) {
      double epsilon = centred ? 1e-5 : 1e-6;
      cases.add(named("the token of introductions", centred, type, epsilon, TOKEN));
      cases.add(named("1 to 4", centred, type, epsilon, 1, 2, 3, 4));
      cases.add(named("a mean far off", centred, type, epsilon, 40000, 40001, 40002, 40003));
      cases.add(named("all equal", centred, type, epsilon, 10, 10, 10, 10, 10));
      for (int i = 0; i < WIDTHS.length; i++) {
        cases.add(drawn(centred, type, i));
      }
    }
    return cases;
  }

  private static NormCase named(
      String name, boolean centred, ElementType type, double epsilon, double... row) {
    double[] x = Arrays.stream(row).map(v -> Elements.round(v, type)).toArray();
    return new NormCase(name, centred, type, x.length, epsilon, x, null, null);
  }

  /** libtorch's RMSNorm has no bias. A row of one element is constant, so it needs an epsilon. */
  private static NormCase drawn(boolean centred, ElementType type, int i) {
    Parameters parameters =
        i % 3 == 0 ? Parameters.NONE : centred ? Parameters.GAIN_AND_BIAS : Parameters.GAIN;
    double scale = type == ElementType.FLOAT16 ? 1e-2 : i % 2 == 0 ? 1e-10 : 1e10;
    return new CaseGenerator(100 + i)
        .draw(
            centred,
            type,
            parameters,
            1,
            WIDTHS[i],
            EPSILONS[i % EPSILONS.length],
            new Distribution(i < 3 ? 1 : scale, i % 2));
  }

  /** A case as lines of {@code key value value ...}, with libtorch's answers last. */
  static List<String> lines(NormCase norm) {
    List<String> lines = new ArrayList<>();
    String kind = norm.centred() ? "LayerNorm" : "RMSNorm";
    lines.add(kind + " " + norm.type() + " epsilon " + norm.epsilon());
    lines.add(line("x", norm.x()));
    if (norm.gain() != null) {
      lines.add(line("gain", norm.gain()));
    }
    if (norm.bias() != null) {
      lines.add(line("bias", norm.bias()));
    }
    if (norm.type() != ElementType.FLOAT64) {
      lines.add(line("libtorch-" + norm.type(), Libtorch.norm(norm, norm.type())));
    }
    lines.add(line("libtorch-float64", Libtorch.norm(norm, ElementType.FLOAT64)));
    return lines;
  }

  static String line(String key, double[] values) {
    return key
        + " "
        + Arrays.stream(values).mapToObj(Double::toHexString).collect(Collectors.joining(" "));
  }

  /** The last line before it of the form {@code NAME type type -> type}. */
  static String titleOf(List<String> lines, int line) {
    int at = line;
    while (!lines.get(at).contains(" -> ")) {
      at--;
    }
    return lines.get(at);
  }

  /** Significant bits of the coarsest type that a title names. */
  static int digits(String title) {
    int digits = 53;
    for (String word : title.split(" ")) {
      for (ElementType type : ElementType.values()) {
        digits = word.equals(type.toString()) ? Math.min(digits, Elements.precision(type)) : digits;
      }
    }
    return digits;
  }

  /** What a line of answers, committed and of today, must be like. */
  interface AnswerCheck {
    /** Line is its index, to find by what it belongs to. */
    void sameAnswer(int line, String committed, String today);
  }

  /**
   * That a committed file is what libtorch says today, all but its answers to the letter. With
   * {@code -Dvectors.write} it is written first.
   */
  static void verify(
      String name, List<String> today, Predicate<String> isAnswer, AnswerCheck answers)
      throws IOException {
    Path file = Path.of(System.getProperty("vectors.dir"), name);
    if (System.getProperty("vectors.write") != null) {
      Files.createDirectories(file.getParent());
      Files.write(file, today);
    }
    List<String> committed = Files.readAllLines(file);
    assertThat(committed).as("lines of %s", file).hasSameSizeAs(today);
    for (int i = 0; i < today.size(); i++) {
      if (isAnswer.test(today.get(i))) {
        answers.sameAnswer(i, committed.get(i), today.get(i));
      } else {
        assertThat(committed.get(i)).as("line %d of %s", i + 1, file).isEqualTo(today.get(i));
      }
    }
  }
}
