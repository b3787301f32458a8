package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * The presets against what the Python code that they are named for gives on libtorch, kept in
 * {@code libtorch/published.txt}. The module lab/oracle-tests wrote it, and checks that libtorch
 * still gives it. Types are those that libtorch promotes to.
 */
class LibtorchPublishedTest {
  /** A row of them, in an operation libtorch adds or multiplies in another order. */
  private static final double ROUNDINGS = 8;

  /** Of the elements, those that a last bit before it sent to a cast's other side. */
  private static final double OTHER_SIDE = 0.01;

  @ParameterizedTest
  @FieldSource("io.github.rmsnorm4j.LibtorchAnswer#PUBLISHED")
  void asPublished(String norm) throws IOException {
    int elements = 0;
    int other = 0;
    for (LibtorchAnswer answer : LibtorchAnswer.of("published.txt", norm)) {
      double[] y = normalise(answer);
      double[] theirs = answer.lines().get("y");
      // A last bit of the arithmetic, or the step of 16 bits that it may send an element over.
      boolean exact =
          List.of(answer.x(), answer.weight(), answer.y()).stream().allMatch(t -> t.bytes() > 2);
      double unit = answer.arithmetic().unitRoundoff();
      double largest = Arrays.stream(theirs).map(Math::abs).max().orElseThrow();
      for (int i = 0; i < y.length; i++) {
        String what = answer + ", element " + i;
        // A mean is off in proportion to the row's largest.
        double size = norm.endsWith("LAYER_NORM") ? largest : Math.abs(theirs[i]);
        double near = ROUNDINGS * unit * size;
        if (!exact && Math.abs(y[i] - theirs[i]) > near) {
          near += 0x1p-7 * Math.abs(theirs[i]);
          other++;
        }
        assertThat(y[i]).as(what).isCloseTo(theirs[i], within(near));
        elements++;
      }
    }
    assertThat(elements).isGreaterThan(70);
    assertThat(other).as("of %d elements", elements).isLessThan((int) (OTHER_SIDE * elements) + 1);
  }

  private static double[] normalise(LibtorchAnswer answer) {
    try (Arena arena = Arena.ofConfined()) {
      Block gain = answer.block(arena, answer.weight(), "weight");
      Block x = answer.block(arena, answer.x(), "x");
      Block y = new Block(arena, Place.NATIVE, answer.y(), 1, answer.width(), answer.width());
      Block sum = answer.block(arena, answer.x(), "residual");
      Saved saved = new Saved(Keep.NOTHING, 1);
      if (sum == null) {
        answer.ours().withParameters(gain.rows, null).apply(x.rows, y.rows, saved);
      } else {
        answer.ours().withParameters(gain.rows, null).addAndApply(x.rows, sum.rows, y.rows, saved);
        assertThat(sum.values(0)).isEqualTo(answer.lines().get("sum"));
      }
      return y.values(0);
    }
  }
}
