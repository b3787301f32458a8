package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.ElementType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The vectors that the library's own build tests against are what libtorch says today. With {@code
 * -Dvectors.write} they are written first.
 */
class VectorsTest {
  private static final List<String> HEADER =
      List.of(
          "# Answers of libtorch 2.10.0, on the CPU: in the row's type, and in float64 for the same",
          "# numbers. Hexadecimal floating point, as Double.parseDouble reads it. Written by",
          "# mvn -Ppeers -pl core,lab/oracle-tests test -Dtest=VectorsTest -Dvectors.write",
          "# -Dsurefire.failIfNoSpecifiedTests=false",
          "");

  @BeforeAll
  static void requireLibtorch() {
    Libtorch.require();
  }

  @ParameterizedTest
  @EnumSource
  void committedVectorsAreWhatLibtorchSays(ElementType type) throws IOException {
    List<String> expected = new ArrayList<>(HEADER);
    List<Comparison> caseOfLine = new ArrayList<>();
    for (NormCase norm : Vectors.cases(type)) {
      expected.addAll(Vectors.lines(norm));
      expected.add("");
      Comparison comparison = new Comparison(norm);
      while (caseOfLine.size() < expected.size()) {
        caseOfLine.add(comparison);
      }
    }
    Vectors.verify(
        type + ".txt",
        expected,
        line -> line.startsWith("libtorch-"),
        (line, was, is) -> assertSameAnswer(was, is, caseOfLine.get(line)));
  }

  /** On other processors libtorch adds in another order, so its last bits may differ. */
  private static void assertSameAnswer(String committed, String today, Comparison comparison) {
    String[] was = committed.split(" ");
    String[] is = today.split(" ");
    assertThat(was).hasSameSizeAs(is);
    assertThat(was[0]).isEqualTo(is[0]);
    ElementType type = ElementType.ofName(is[0].substring("libtorch-".length()));
    for (int i = 1; i < is.length; i++) {
      assertThat(Double.parseDouble(was[i]))
          .as("element %d of %s of %s", i - 1, is[0], comparison.norm)
          .isCloseTo(Double.parseDouble(is[i]), within(comparison.tolerance(0, type)));
    }
  }
}
