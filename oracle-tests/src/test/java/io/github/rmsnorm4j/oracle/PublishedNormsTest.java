package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.ElementType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The answers of published norms that the library's own build tests against are what libtorch says
 * today. With {@code -Dvectors.write} they are written first.
 */
class PublishedNormsTest {
  private static final List<String> HEADER =
      List.of(
          "# Answers of libtorch 2.10.0, on the CPU, to the Python code of published norms: name, type",
          "# of the rows, of the weight and of the answer. Hexadecimal floating point. Written by",
          "# mvn -Poracle -pl core,oracle-tests test -Dtest=PublishedNormsTest -Dvectors.write",
          "# -Dsurefire.failIfNoSpecifiedTests=false",
          "");
  private static final int[] WIDTHS = {5, 33};

  @BeforeAll
  static void requireLibtorch() {
    Libtorch.require();
  }

  @Test
  void committedAnswersAreWhatLibtorchSays() throws IOException {
    Path file = Path.of(System.getProperty("vectors.dir"), "published.txt");
    List<String> expected = new ArrayList<>(HEADER);
    for (PublishedNorm norm : PublishedNorm.values()) {
      for (ElementType type : ElementType.values()) {
        for (ElementType weight : ElementType.values()) {
          for (int width : WIDTHS) {
            if (norm.takes(type, weight)) {
              expected.addAll(lines(norm, type, weight, width));
            }
          }
        }
      }
    }
    if (System.getProperty("vectors.write") != null) {
      Files.write(file, expected);
    }
    List<String> committed = Files.readAllLines(file);
    assertThat(committed).as("lines of %s", file).hasSameSizeAs(expected);
    String title = "";
    for (int i = 0; i < expected.size(); i++) {
      if (expected.get(i).startsWith("y ")) {
        assertSameAnswer(title, committed.get(i), expected.get(i));
      } else {
        assertThat(committed.get(i)).as("line %d of %s", i + 1, file).isEqualTo(expected.get(i));
        title = expected.get(i).contains(" -> ") ? expected.get(i) : title;
      }
    }
  }

  /** Rows of which the residual's are the greater; numbers that the types have. */
  private static List<String> lines(
      PublishedNorm norm, ElementType type, ElementType weight, int width) {
    Random random = new Random(width + 1000L * norm.ordinal());
    double[] x = values(random, type, width, 0, 1);
    double[] gain = values(random, weight, width, 1, 0.5);
    try (PointerScope _ = new PointerScope()) {
      List<String> lines = new ArrayList<>();
      lines.add(Vectors.line("x", x));
      lines.add(Vectors.line("weight", gain));
      Tensor weights = Libtorch.parameter(gain, weight);
      PublishedNorm.Learned learned = new PublishedNorm.Learned(weights, null, norm.epsilon());
      Tensor addend = null;
      if (norm.adds()) {
        double[] residual = values(random, type, width, 0, 3);
        lines.add(Vectors.line("residual", residual));
        addend = Libtorch.tensor(residual, type);
      }
      PublishedNorm.Result result = norm.apply(Libtorch.tensor(x, type), addend, learned);
      if (norm.adds()) {
        lines.add(Vectors.line("sum", Libtorch.values(result.sum())));
      }
      Tensor y = result.y();
      lines.add(Vectors.line("y", Libtorch.values(y)));
      lines.addFirst(norm + " " + type + " " + weight + " -> " + Libtorch.elementType(y));
      lines.add("");
      return lines;
    }
  }

  private static double[] values(
      Random random, ElementType type, int width, double mean, double deviation) {
    double[] values = new double[width];
    for (int i = 0; i < width; i++) {
      values[i] = Elements.round(mean + deviation * random.nextGaussian(), type);
    }
    return values;
  }

  /** Elsewhere libtorch may add in another order, and then a cast fall to its other side. */
  private static void assertSameAnswer(String title, String committed, String today) {
    String[] was = committed.split(" ");
    String[] is = today.split(" ");
    assertThat(was).hasSameSizeAs(is);
    int digits = 53;
    for (String word : title.split(" ")) {
      for (ElementType type : ElementType.values()) {
        digits = word.equals(type.toString()) ? Math.min(digits, Elements.precision(type)) : digits;
      }
    }
    for (int i = 1; i < is.length; i++) {
      double value = Double.parseDouble(is[i]);
      double unit = Math.scalb(4.0, -digits) * Math.max(Math.abs(value), 0x1p-10);
      assertThat(Double.parseDouble(was[i]))
          .as("element %d of %s", i - 1, title)
          .isCloseTo(value, within(unit));
    }
  }
}
