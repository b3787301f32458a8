package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.oracle.GradientCase.Gradients;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The gradients of published norms that the library's own build tests against are what libtorch's
 * autograd says today. With {@code -Dvectors.write} they are written first.
 */
class PublishedGradientVectorsTest {
  private static final List<String> HEADER =
      List.of(
          "# Gradients of libtorch 2.10.0, on the CPU, by autograd of the Python code of published",
          "# norms: name, type of the rows, of weight and bias, and of the output. Three rows each.",
          "# Hexadecimal floating point. Written by",
          "# mvn -Ppeers -pl core,lab/oracle-tests test -Dtest=PublishedGradientVectorsTest",
          "# -Dvectors.write -Dsurefire.failIfNoSpecifiedTests=false",
          "");

  /** How far the committed and today's may be apart: other processors add otherwise. */
  private static final double ROUNDINGS = 8;

  @BeforeAll
  static void requireLibtorch() {
    Libtorch.require();
  }

  @Test
  void committedGradientsAreWhatLibtorchSays() throws IOException {
    List<String> expected = new ArrayList<>(HEADER);
    for (PublishedNorm norm : PublishedNorm.values()) {
      for (ElementType type : ElementType.values()) {
        for (ElementType weight : ElementType.values()) {
          boolean mixed = type != weight && weight != ElementType.FLOAT32;
          if (!mixed && norm.takes(type, weight)) {
            expected.addAll(lines(norm, type, weight));
          }
        }
      }
    }
    Vectors.verify(
        "gradients.txt",
        expected,
        line -> line.matches("d(x|gain|bias) .*"),
        (line, was, is) -> assertSameAnswer(Vectors.titleOf(expected, line), was, is));
  }

  private static List<String> lines(PublishedNorm norm, ElementType type, ElementType weight) {
    Random random = new Random(norm.ordinal());
    GradientCase of = GradientCase.of("", norm, type, weight, 3, 11, norm.epsilon(), 2, random);
    Gradients gradients = of.published();
    List<String> lines = new ArrayList<>();
    lines.add(norm + " " + type + " " + weight + " -> " + of.output());
    add(lines, "x", of.x());
    add(lines, "residual", of.residual());
    add(lines, "weight", of.weight());
    add(lines, "bias", of.bias());
    add(lines, "dy", of.dy());
    add(lines, "dresidual", of.dresidual());
    add(lines, "dx", gradients.dx());
    add(lines, "dgain", gradients.dgain());
    add(lines, "dbias", gradients.dbias());
    lines.add("");
    return lines;
  }

  private static void add(List<String> lines, String key, double[] values) {
    if (values != null) {
      lines.add(Vectors.line(key, values));
    }
  }

  private static void assertSameAnswer(String title, String committed, String today) {
    double[] was = values(committed);
    double[] is = values(today);
    assertThat(was).hasSameSizeAs(is);
    double largest = Arrays.stream(is).map(Math::abs).max().orElse(0);
    double near = Math.scalb(ROUNDINGS, -Vectors.digits(title)) * largest;
    for (int i = 0; i < is.length; i++) {
      assertThat(was[i]).as("element %d of %s", i, title).isCloseTo(is[i], within(near));
    }
  }

  private static double[] values(String line) {
    return Arrays.stream(line.split(" ")).skip(1).mapToDouble(Double::parseDouble).toArray();
  }
}
