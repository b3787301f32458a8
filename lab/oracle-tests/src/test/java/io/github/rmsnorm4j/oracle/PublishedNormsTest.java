package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The answers of published norms that the library's own build tests against are what libtorch says
 * today. With {@code -Dvectors.write} they are written first.
 */
class PublishedNormsTest {
  private static final List<String> HEADER =
      List.of(
          "# Answers of libtorch 2.10.0, on the CPU, to the Python code of published norms: name, type",
          "# of the rows, of the weight and of the answer. Hexadecimal floating point. Written by",
          "# mvn -Ppeers -pl core,lab/oracle-tests test -Dtest=PublishedNormsTest -Dvectors.write",
          "# -Dsurefire.failIfNoSpecifiedTests=false",
          "");
  private static final int[] WIDTHS = {5, 33};
  private static final int ROUNDED_ROWS = 5000;

  @BeforeAll
  static void requireLibtorch() {
    Libtorch.require();
  }

  @Test
  void committedAnswersAreWhatLibtorchSays() throws IOException {
    List<String> expected = new ArrayList<>(HEADER);
    for (PublishedNorm norm : PublishedNorm.values()) {
      for (ElementType type : ElementType.values()) {
        for (ElementType weight : ElementType.values()) {
          for (int width : WIDTHS) {
            if (!norm.isOneOperation() && norm.takes(type, weight)) {
              expected.addAll(lines(norm, type, weight, width));
            }
          }
        }
      }
    }
    Vectors.verify(
        "published.txt",
        expected,
        line -> line.startsWith("y "),
        (line, was, is) -> assertSameAnswer(Vectors.titleOf(expected, line), was, is));
  }

  /**
   * Of 16-bit sums each rounding has its own answers: ours are those of the same name, but for an
   * element in a thousand that a last bit sends to a cast's other side.
   */
  @ParameterizedTest
  @EnumSource(names = {"ADDED_FIRST", "ADDED_BETWEEN", "ADDED_LAST"})
  void eachResidualRoundingHasItsOwnAnswers(PublishedNorm norm) {
    ElementType type = ElementType.BFLOAT16;
    Random random = new Random(7);
    double[] x = values(random, type, ROUNDED_ROWS * 8, 0, 1);
    double[] residual = values(random, type, ROUNDED_ROWS * 8, 0, 3);
    Rows y = Elements.rows(new double[x.length], type, 8);
    norm.ours(8, norm.epsilon())
        .addAndApply(Elements.rows(x, type, 8), Elements.rows(residual, type, 8), y);
    double[] ours = Elements.values(y);
    double[] ones = new double[8];
    Arrays.fill(ones, 1);
    for (PublishedNorm other : PublishedNorm.values()) {
      if (other.adds() && !other.centred()) {
        try (PointerScope _ = new PointerScope()) {
          Tensor theirs =
              other
                  .apply(
                      Libtorch.tensor(x, type, 8),
                      Libtorch.tensor(residual, type, 8),
                      new PublishedNorm.Learned(Libtorch.parameter(ones, type), null, 1e-6))
                  .y();
          double[] values = Libtorch.values(theirs);
          long different =
              IntStream.range(0, ours.length).filter(i -> ours[i] != values[i]).count();
          System.out.println(norm + " beside " + other + ": " + different + " of " + ours.length);
          if (other == norm) {
            assertThat(different).isLessThan(ours.length / 1000);
          } else {
            assertThat(different).as("answers unlike %s", other).isGreaterThan(ours.length / 200);
          }
        }
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
    int digits = Vectors.digits(title);
    for (int i = 1; i < is.length; i++) {
      double value = Double.parseDouble(is[i]);
      double unit = Math.scalb(4.0, -digits) * Math.max(Math.abs(value), 0x1p-10);
      assertThat(Double.parseDouble(was[i]))
          .as("element %d of %s", i - 1, title)
          .isCloseTo(value, within(unit));
    }
  }
}
