package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The interpreter gives plain Java's bits for kernels of one stage, for pieces of long rows. */
class InterpretedPieceTest {
  private final DrawnElements drawn = new DrawnElements(31);

  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void firstElements(int bits) {
    for (ForwardKind kind : ForwardKind.drawn(bits, new SplittableRandom(32))) {
      if (kind.centred()) {
        check(kind, kind.forward(true).shift(), List.of());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void sums(int bits) {
    for (ForwardKind kind : ForwardKind.drawn(bits, new SplittableRandom(33))) {
      List<Tensor> known = kind.centred() ? List.of(Forward.SHIFT) : List.of();
      check(kind, kind.forward(true).pieceStatistic(), known);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void outputs(int bits) {
    for (ForwardKind kind : ForwardKind.drawn(bits, new SplittableRandom(34))) {
      Forward forward = kind.forward(true);
      List<Tensor> known = List.of(Forward.ROOT, Forward.RSTD, Forward.MEAN);
      check(kind, forward.output(), known.subList(0, kind.centred() ? 3 : 2));
    }
  }

  /** Every instruction is run for one of the widths. */
  private void check(ForwardKind kind, Stage stage, List<Tensor> known) {
    Unreached unreached = new Unreached();
    Target target = kind.target(stage);
    boolean aligned = kind.streams() && !stage.written().isEmpty() && !target.peels();
    for (int width : InterpretedKernel.WIDTHS) {
      if (!aligned || width * kind.y().bytes() % Area.ALIGNMENT == 0) {
        InterpretedKernel kernel = new InterpretedKernel(target, kind.shift(target, width));
        Given given = given(kind, stage, known, width);
        check(kernel, stage, given, kind.columnType(), kind + ", width " + width);
        unreached.after(target, kernel);
      }
    }
    if (!aligned) {
      unreached.require(0, kind.toString());
    }
  }

  /** Where the width is even the last elements are subnormal, and so is their sum. */
  private Given given(ForwardKind kind, Stage stage, List<Tensor> known, int width) {
    Given given = new Given(1, width, 0);
    stage
        .rows()
        .forEach(
            (operand, type) -> {
              byte[] elements = drawn.of(type, width);
              if (width % 2 == 0) {
                DrawnElements.set(elements, type, width - 1, 0x1p-128f);
              }
              for (int i = 0; i < width && stage.sums().isEmpty(); i++) {
                if (DrawnElements.isNan(i, width)) {
                  DrawnElements.set(elements, type, i, Float.NaN);
                }
              }
              given.operands().put(operand, elements);
            });
    Map<Tensor, byte[]> parameters = DrawnElements.ofType(drawn.parametersWithNan(width), kind.x());
    parameters.keySet().retainAll(stage.tensors().keySet());
    given.columns().putAll(parameters);
    known.forEach(number -> given.numbers().put(number, new double[] {1 + number.place() / 9.0}));
    return given;
  }

  private static void check(
      InterpretedKernel kernel, Stage stage, Given given, ElementType type, String what) {
    Frame frame = new Frame();
    given.numbers().forEach((number, ofRow) -> frame.of(number)[0] = ofRow[0]);
    given.columns().forEach((column, bytes) -> frame.point(column, Given.array(bytes, type)));
    Map<Tensor, byte[]> expected = expected(stage, given, frame);
    assertThat(kernel.run(given)).as(what).isEqualTo(1);
    for (Tensor operand : stage.written().keySet()) {
      assertThat(given.operands().get(operand)).as(what).isEqualTo(expected.get(operand));
    }
    for (Stage.Statement statement : stage.statements()) {
      if (statement instanceof Stage.Keep keep) {
        assertThat(kernel.number(keep.number())).as(what).isEqualTo(frame.of(keep.number())[0]);
      }
    }
    for (int s = 0; s < stage.sums().size(); s++) {
      double[] lanes = Arrays.copyOf(frame.lanes[s], SumOrder.LANES);
      assertThat(kernel.lanes(s)).as(what).isEqualTo(lanes);
    }
  }

  /** What plain Java writes; leaves its numbers and lanes in the frame. */
  private static Map<Tensor, byte[]> expected(Stage stage, Given given, Frame frame) {
    Map<Tensor, ElementType> types = stage.rows();
    Map<Tensor, MemorySegment> rows = new TreeMap<>();
    Map<Tensor, byte[]> expected = new TreeMap<>();
    try (Arena arena = Arena.ofConfined()) {
      for (Tensor operand : types.keySet()) {
        MemorySegment bytes = MemorySegment.ofArray(given.operands().get(operand));
        MemorySegment row = arena.allocate(bytes.byteSize(), Area.ALIGNMENT).copyFrom(bytes);
        frame.place(operand, null, row.address(), row.byteSize());
        rows.put(operand, row);
      }
      new PlainKernel(stage, 0).superBlock(frame, given.width());
      rows.forEach((operand, row) -> expected.put(operand, row.toArray(ValueLayout.JAVA_BYTE)));
    }
    return expected;
  }
}
