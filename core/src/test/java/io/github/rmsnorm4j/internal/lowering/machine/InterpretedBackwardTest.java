package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The interpreter gives plain Java's bits for backward kernels, too, on any machine. */
class InterpretedBackwardTest {
  private static final int MANY = 11;

  /** Kept numbers that float32 has not, or not as a normal number. */
  private static final List<Double> OUT_OF_RANGE =
      List.of(Double.NaN, 0.0, -0.0, 1e-40, -1.0, 1e39, Double.POSITIVE_INFINITY);

  /** Instructions that round two vectors together, store them, and go on. */
  private static final int PAIR = 3;

  /** The same without an instruction that rounds. */
  private static final int PAIR_OF_256_BITS = 14;

  private final DrawnElements drawn = new DrawnElements(21);

  /** Every instruction of a kernel for rows of any width is run for one of them. */
  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void kernelsOfAllPairsOfChoicesHaveTheBitsOfPlainJava(int bits) {
    for (BackwardKind kind : BackwardKind.ofPairs(bits)) {
      Unreached unreached = new Unreached();
      for (int width : InterpretedKernel.WIDTHS) {
        int rows = width <= 256 ? MANY : 2;
        Target target = kind.target(bits, width);
        InterpretedKernel kernel = new InterpretedKernel(target, kind.shift(target, width));
        BackwardExample example = new BackwardExample(kind, rows, width, drawn);
        Given given = example.given();
        String what = kind + ", width " + width;
        assertThat(kernel.run(given)).as(what).isEqualTo(rows);
        requireSame(kind, given, example.expected(rows), what);
        unreached.after(target, kernel);
      }
      int pair = bits == 512 ? PAIR : PAIR_OF_256_BITS;
      unreached.require(kind.roundsNoEnds(bits) ? pair : 0, kind.toString());
    }
  }

  private static void requireSame(BackwardKind kind, Given given, Given expected, String what) {
    Map<Tensor, ElementType> types = new TreeMap<>();
    kind.stages().forEach(stage -> types.putAll(Given.rowsWritten(stage)));
    Map<String, byte[]> written = given.written(types);
    expected
        .written(types)
        .forEach(
            (name, bytes) -> assertThat(written.get(name)).as(name + ", " + what).isEqualTo(bytes));
  }

  /** Neither dx nor the gradients of gain and bias have anything of a row that is refused. */
  @ParameterizedTest
  @CsvSource({
    "256, 64, 3, 0",
    "256, 64, 6, 4",
    "256, 64, 9, 9",
    "256, 100, 3, 3",
    "512, 64, 3, 0",
    "512, 64, 9, 9",
    "512, 100, 3, 3"
  })
  void rowsOutOfRangeAreRefused(int bits, int width, int bad, int done) {
    for (BackwardKind kind : BackwardKind.ofPairs(bits)) {
      BackwardExample example = new BackwardExample(kind, MANY, width, drawn);
      if (kind.keep() == Keep.NOTHING) {
        example.setNan(bad);
        requireRefused(kind, bits, example, example.given(), done);
        continue;
      }
      if (kind.isFloat64()) {
        continue; // A kept statistic of float64 has no range.
      }
      for (double number : OUT_OF_RANGE) {
        Given given = example.given();
        given.numbers().get(Forward.RSTD)[bad] = number;
        requireRefused(kind, bits, example, given, done);
      }
      if (kind.centred()) {
        Given given = example.given();
        given.numbers().get(Forward.MEAN)[bad] = -0x1p103;
        requireRefused(kind, bits, example, given, done);
      }
    }
  }

  private static void requireRefused(
      BackwardKind kind, int bits, BackwardExample example, Given given, int done) {
    Target target = kind.target(bits, given.width());
    InterpretedKernel kernel = new InterpretedKernel(target);
    String what = kind + " of " + given.numbers();
    int before = target.hasStrips() ? done / target.group() * target.group() : done;
    assertThat(kernel.run(given)).as(what).isEqualTo(before);
    requireSame(kind, given, example.expected(before), what);
  }
}
