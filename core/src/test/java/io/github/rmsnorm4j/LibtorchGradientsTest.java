package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * Gradients against what libtorch's autograd makes of the Python code of published norms, kept in
 * {@code libtorch/gradients.txt}. The module lab/oracle-tests wrote it, checks that libtorch still
 * gives it, and compares many more.
 */
class LibtorchGradientsTest {
  private static final List<String> NORMS =
      Stream.concat(LibtorchAnswer.PUBLISHED.stream(), Stream.of("RMS_NORM", "LAYER_NORM"))
          .toList();

  /**
   * Roundings of float32 and float64, each in proportion to the terms that an element is made of,
   * without their signs. Libtorch adds rows up in their own type, so its sums carry more roundings
   * than ours.
   */
  private static final double ROUNDINGS = 24;

  /**
   * The same of a type of 16 bits, which the Python code rounds to there and back: dy * gain, what
   * comes back to x by each of two ways, their sum, and our own dx, or what dgain adds up.
   */
  private static final double NARROW_ROUNDINGS = 5;

  /** More of them, where we go back from an output that was rounded, or from a rounded sum. */
  private static final double ROUNDINGS_OF_KEPT = 4;

  @ParameterizedTest
  @FieldSource("NORMS")
  void asAutogradHasThem(String norm) throws IOException {
    List<LibtorchAnswer> answers = LibtorchAnswer.of("gradients.txt", norm);
    assertThat(answers).hasSizeGreaterThan(1);
    for (LibtorchAnswer answer : answers) {
      for (Keep keep : Keep.values()) {
        if (keep != Keep.OUTPUT || !norm.equals("PARTIAL")) {
          LibtorchTerms terms = terms(answer, keep);
          double taken = taken(answer, keep, terms, ours(answer, keep));
          assertThat(taken).as("tolerance taken by %s, kept %s", answer, keep).isLessThan(1);
        }
      }
    }
  }

  /** The plain formula is within it too, and one that is wrong in one term far outside. */
  @ParameterizedTest
  @FieldSource("NORMS")
  void mistakesAreOutsideTheTolerance(String norm) throws IOException {
    for (LibtorchAnswer answer : LibtorchAnswer.of("gradients.txt", norm)) {
      LibtorchTerms terms = terms(answer, Keep.INPUT);
      for (LibtorchTerms.Mistake mistake : LibtorchTerms.Mistake.values()) {
        if (mistake.appliesTo(terms)) {
          double taken = taken(answer, Keep.INPUT, terms, terms.gradients(mistake));
          if (mistake == LibtorchTerms.Mistake.NONE) {
            assertThat(taken).as("the formula, %s", answer).isLessThan(1);
          } else {
            assertThat(taken).as("%s, %s", mistake, answer).isGreaterThan(2);
          }
        }
      }
    }
  }

  private static LibtorchTerms.Result ours(LibtorchAnswer answer, Keep keep) {
    int n = answer.width();
    int rows = answer.rows();
    double[] dgain = new double[n];
    double[] dbias = new double[n];
    try (Arena arena = Arena.ofConfined()) {
      Norm norm = answer.ours();
      Saved saved = new Saved(keep, rows);
      Block x = answer.block(arena, answer.x(), "x");
      Block sum = answer.block(arena, answer.x(), "residual");
      Rows gain = answer.block(arena, answer.weight(), "weight").rows;
      Block bias = answer.block(arena, answer.weight(), "bias");
      Block y = new Block(arena, Place.NATIVE, answer.y(), rows, n, n);
      Block dy = answer.block(arena, answer.y(), "dy");
      Block dx = new Block(arena, Place.NATIVE, answer.x(), rows, n, n);
      ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
      Rows added = bias == null ? null : bias.rows;
      if (sum == null) {
        norm.withParameters(gain, added).apply(x.rows, y.rows, saved);
        norm.backward(dy.rows, saved, dx.rows, gradients);
      } else {
        Block dresidual = answer.block(arena, answer.x(), "dresidual");
        norm.withParameters(gain, added).addAndApply(x.rows, sum.rows, y.rows, saved);
        norm.backward(dy.rows, saved, dresidual.rows, dx.rows, gradients);
      }
      double[] out = new double[rows * n];
      for (int row = 0; row < rows; row++) {
        System.arraycopy(dx.values(row), 0, out, row * n, n);
      }
      return new LibtorchTerms.Result(out, dgain, dbias);
    }
  }

  /** The mean of a LayerNorm is as good as the arithmetic, and libtorch's as the rows' type. */
  private static LibtorchTerms terms(LibtorchAnswer answer, Keep keep) {
    double ratio = answer.arithmetic().unitRoundoff() / coarsest(answer);
    return new LibtorchTerms(answer, keep == Keep.OUTPUT, ratio);
  }

  /** How much of the tolerance an answer takes at most: 1 is all. */
  private static double taken(
      LibtorchAnswer answer, Keep keep, LibtorchTerms terms, LibtorchTerms.Result is) {
    double rounding = coarsest(answer);
    boolean late = answer.norm().equals("ADDED_BETWEEN") || answer.norm().equals("ADDED_LAST");
    double roundings = rounding > 0x1p-20 ? NARROW_ROUNDINGS : ROUNDINGS;
    roundings += keep == Keep.OUTPUT || late && keep == Keep.NOTHING ? ROUNDINGS_OF_KEPT : 0;
    double unit = roundings * rounding;
    double most = taken(is.dx(), answer.lines().get("dx"), terms.dxSize, unit);
    most = Math.max(most, taken(is.dgain(), answer.lines().get("dgain"), terms.dgainSize, unit));
    double[] dbias = answer.lines().get("dbias");
    return dbias == null ? most : Math.max(most, taken(is.dbias(), dbias, terms.dbiasSize, unit));
  }

  private static double taken(double[] ours, double[] theirs, double[] size, double unit) {
    double most = 0;
    for (int i = 0; i < theirs.length; i++) {
      double ratio = Math.abs(ours[i] - theirs[i]) / (unit * size[i]);
      most = ratio <= most ? most : Double.isNaN(ratio) ? Double.MAX_VALUE : ratio;
    }
    return most;
  }

  private static double coarsest(LibtorchAnswer answer) {
    return Stream.of(answer.x(), answer.weight(), answer.y())
        .mapToDouble(ElementType::unitRoundoff)
        .max()
        .getAsDouble();
  }
}
