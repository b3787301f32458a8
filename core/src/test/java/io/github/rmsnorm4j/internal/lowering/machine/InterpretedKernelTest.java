package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.internal.formula.Forward;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The interpreter gives plain Java's bits for kernels with vectors of any width, on any machine. It
 * checks every address and every register on the way.
 */
class InterpretedKernelTest {
  private static final double EPSILON = 1e-5;

  private final SplittableRandom random = new SplittableRandom(11);
  private final DrawnElements drawn = new DrawnElements(12);

  /** Every instruction of a kernel for rows of any width is run for one of them. */
  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void drawnKernelsHaveTheBitsOfPlainJava(int bits) {
    for (ForwardKind kind : ForwardKind.drawn(bits, random)) {
      Unreached unreached = new Unreached();
      for (int width : InterpretedKernel.WIDTHS) {
        unreached.after(kind.target(width), check(kind, width));
      }
      unreached.require(0, kind.toString());
    }
  }

  private InterpretedKernel check(ForwardKind kind, int width) {
    Given given = given(kind, width, width <= 256 ? 11 : 2);
    byte[] residual = kind.adds() ? given.operands().get(Forward.RESIDUAL).clone() : null;
    byte[] y = expected(kind, given, residual);
    InterpretedKernel kernel =
        new InterpretedKernel(kind.target(width), kind.shift(kind.target(width), width));
    String what = kind + ", width " + width;
    assertThat(kernel.run(given)).as(what).isEqualTo(given.rows());
    assertThat(given.operands().get(Forward.Y)).as(what).isEqualTo(y);
    if (kind.adds()) {
      assertThat(given.operands().get(Forward.RESIDUAL)).as(what).isEqualTo(residual);
    }
    return kernel;
  }

  private Given given(ForwardKind kind, int width, int rows) {
    Given given = new Given(rows, width, EPSILON);
    given.operands().put(Forward.X, drawn.of(kind.x(), rows * width));
    given.operands().put(Forward.Y, new byte[rows * width * kind.y().bytes()]);
    if (kind.adds()) {
      given.operands().put(Forward.RESIDUAL, drawn.of(kind.x(), rows * width));
    }
    if (kind.gate() != Gate.NONE) {
      given.operands().put(Forward.Z, drawn.of(kind.x(), rows * width));
    }
    if (kind.gate() == Gate.SILU_BEFORE) {
      byte[] zeros = new byte[rows * width * kind.columnType().bytes()];
      given.operands().put(Forward.GATED, zeros);
    }
    given.columns().putAll(DrawnElements.ofType(drawn.parametersWithNan(width), kind.x()));
    return given;
  }

  @ParameterizedTest
  @CsvSource({
    "256, 64, 3, 0",
    "256, 64, 6, 4",
    "256, 64, 9, 9",
    "256, 100, 3, 3",
    "512, 64, 3, 0",
    "512, 64, 9, 9"
  })
  void rowsOutOfRangeAreRefused(int bits, int width, int bad, int done) {
    for (ForwardKind kind : ForwardKind.drawn(bits, random)) {
      if (kind.streams()) {
        continue;
      }
      Given given = given(kind, width, 11);
      byte[] x = given.operands().get(Forward.X);
      int row = bad * width * kind.x().bytes();
      Arrays.fill(x, row, row + Double.BYTES, (byte) -1);
      assertThat(new InterpretedKernel(kind.target(width)).run(given))
          .as(kind.toString())
          .isEqualTo(done);
    }
  }

  private static <B extends NormBuilder<B>> B configured(B builder, ForwardKind kind, Given given) {
    if (kind.biased()) {
      builder.bias(Given.numbers(given.columns().get(Forward.BIAS), kind.columnType()));
    }
    return builder
        .gain(Given.numbers(given.columns().get(Forward.GAIN), kind.columnType()))
        .epsilon(EPSILON)
        .epsilonPlacement(kind.placement())
        .gate(kind.gate())
        .backend(Backend.scalar());
  }

  private static byte[] expected(ForwardKind kind, Given given, byte[] residual) {
    int rows = given.rows();
    int width = given.width();
    Norm norm =
        kind.centred()
            ? configured(LayerNorm.builder(width), kind, given).build()
            : configured(RmsNorm.builder(width).castOrder(kind.order()), kind, given).build();
    byte[] y = new byte[rows * width * kind.y().bytes()];
    MemorySegment in = MemorySegment.ofArray(given.operands().get(Forward.X));
    Rows x = Rows.of(in, kind.x(), rows, width);
    Rows to = Rows.of(MemorySegment.ofArray(y), kind.y(), rows, width);
    if (kind.gate() != Gate.NONE) {
      norm.applyGated(x, rows(given.operands().get(Forward.Z), kind, rows, width), to);
    } else if (residual == null) {
      norm.apply(x, to);
    } else {
      norm.addAndApply(x, rows(residual, kind, rows, width), to);
    }
    return y;
  }

  private static Rows rows(byte[] elements, ForwardKind kind, int rows, int width) {
    return Rows.of(MemorySegment.ofArray(elements), kind.x(), rows, width);
  }
}
