package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Kernels with more tensors than bases that come in registers, or than pointers that do. */
class ManyTensorsTest {
  private static final List<Integer> WIDTHS = List.of(1, 31, 33, 64, 256, 300, 1024, 1081, 2079);
  private static final int ROWS = 11;

  private final DrawnElements drawn = new DrawnElements(51);
  private final SplittableRandom random = new SplittableRandom(52);

  @ParameterizedTest
  @EnumSource
  void theInterpreterHasTheBitsOfPlainJava(ManyTensors many) {
    for (int bits : new int[] {256, 512}) {
      for (ElementType type : ElementType.values()) {
        List<Stage> stages = many.stages(type);
        Unreached unreached = new Unreached();
        String what = many + " of " + type + ", " + bits + " bits, width ";
        for (int width : InterpretedKernel.WIDTHS) {
          Given given = PlainRows.drawn(stages, width <= 256 ? ROWS : 2, width, drawn);
          Given expected = PlainRows.after(stages, given);
          Target target = MachineKernel.target(stages, bits, width, false);
          InterpretedKernel kernel = new InterpretedKernel(target);
          assertThat(kernel.run(given)).as(what + width).isEqualTo(given.rows());
          requireSame(stages, given, expected, what + width);
          for (Tensor sum : PlainRows.sums(stages)) {
            assertThat(kernel.number(sum)).as(what).isEqualTo(expected.numbers().get(sum)[0]);
          }
          unreached.after(target, kernel);
        }
        unreached.require(0, what);
      }
    }
  }

  private static void requireSame(List<Stage> stages, Given given, Given expected, String what) {
    Map<Tensor, ElementType> types = PlainRows.tensors(stages);
    types.keySet().retainAll(given.operands().keySet());
    Map<String, byte[]> written = given.written(types);
    expected
        .written(types)
        .forEach((name, bytes) -> assertThat(written.get(name)).as(name + what).isEqualTo(bytes));
  }

  @ParameterizedTest
  @EnumSource
  void theProcessorHasTheBitsOfPlainJava(ManyTensors many) {
    int most = Machine.here().bits();
    assumeThat(most).as(Machine.here().whyNot()).isPositive();
    for (int bits = 256; bits <= most; bits *= 2) {
      for (ElementType type : ElementType.values()) {
        for (int width : WIDTHS) {
          List<Stage> stages = many.stages(type);
          MachineKernel kernel = MachineKernel.of(stages, bits, width, false);
          String what = many + " of " + type + ", " + bits + " bits, width " + width;
          assertThat(kernel).as(what).isNotNull();
          for (Where where : Where.values()) {
            check(kernel, stages, width, where, what + ", " + where);
          }
        }
      }
    }
  }

  /** Where rows are. */
  private enum Where {
    NATIVE,
    ARRAYS,
    MIXED
  }

  /** The second run finds what the first one was given, so it writes the same again. */
  private void check(
      MachineKernel kernel, List<Stage> stages, int width, Where where, String what) {
    Given given = PlainRows.drawn(stages, ROWS, width, drawn);
    Given expected = PlainRows.after(stages, given);
    try (Arena arena = Arena.ofConfined();
        MachineFrame frame = new MachineFrame()) {
      frame.setWidth(width, width);
      frame.set(Forward.K, width);
      frame.set(Forward.EPSILON, given.epsilon());
      Map<Tensor, Placed> rows = new TreeMap<>();
      Map<Tensor, ElementType> types = PlainRows.tensors(stages);
      given
          .operands()
          .forEach(
              (operand, bytes) -> {
                boolean array = where == Where.MIXED ? random.nextBoolean() : where == Where.ARRAYS;
                Placed placed = new Placed(random, arena, array, types.get(operand), bytes);
                placed.place(frame, operand);
                rows.put(operand, placed);
              });
      for (int run = 0; run < 2; run++) {
        Map<Tensor, MemorySegment> columns = new TreeMap<>();
        given.columns().forEach((c, bytes) -> columns.put(c, point(frame, c, bytes, arena)));
        assertThat(kernel.run(frame, ROWS)).as(what).isEqualTo(ROWS);
        Given found = new Given(ROWS, width, given.epsilon());
        rows.forEach((operand, placed) -> found.operands().put(operand, placed.bytes()));
        columns.forEach(
            (c, segment) -> found.columns().put(c, segment.toArray(ValueLayout.JAVA_BYTE)));
        requireSame(stages, found, expected, what + ", run " + run);
        for (Tensor sum : PlainRows.sums(stages)) {
          double[] numbers = new double[ROWS];
          frame.copy(sum.place(), ROWS, numbers, 0);
          double[] wanted = Arrays.copyOf(expected.numbers().get(sum), ROWS);
          assertThat(numbers).as("%s of %s", sum, what).isEqualTo(wanted);
        }
        for (Tensor written : given.operands().keySet()) {
          if (stages.getLast().written().containsKey(written)) {
            rows.get(written).clear();
          }
        }
      }
    }
  }

  private static MemorySegment point(MachineFrame frame, Tensor c, byte[] bytes, Arena arena) {
    MemorySegment segment = arena.allocate(bytes.length, Area.ALIGNMENT);
    frame.point(c, segment.copyFrom(MemorySegment.ofArray(bytes)).address());
    return segment;
  }

  /** Rows with bytes before, between and behind them that no kernel may write to. */
  private static final class Placed {
    private static final byte NOBODYS = 77;

    private final MemorySegment segment;
    private final long offset;
    private final long stride;
    private final int size;

    Placed(SplittableRandom random, Arena arena, boolean array, ElementType type, byte[] rows) {
      size = rows.length / ROWS;
      int unit = array ? type.bytes() : 1;
      offset = random.nextLong(40) * unit;
      stride = size + random.nextLong(9) * unit;
      long bytes = offset + ROWS * stride + 64;
      segment = array ? MemorySegment.ofArray(new byte[(int) bytes]) : arena.allocate(bytes);
      segment.fill(NOBODYS);
      for (int row = 0; row < ROWS; row++) {
        MemorySegment.copy(MemorySegment.ofArray(rows), (long) row * size, segment, at(row), size);
      }
    }

    private long at(int row) {
      return offset + row * stride;
    }

    void place(MachineFrame frame, Tensor operand) {
      boolean array = !segment.isNative();
      frame.place(
          operand, array ? segment : null, array ? offset : segment.address() + offset, stride);
    }

    void clear() {
      for (int row = 0; row < ROWS; row++) {
        segment.asSlice(at(row), size).fill((byte) 0);
      }
    }

    /** The bytes of all rows. */
    byte[] bytes() {
      byte[] bytes = new byte[ROWS * size];
      List<MemorySegment> rest = new ArrayList<>(List.of(segment.asSlice(0, offset)));
      for (int row = 0; row < ROWS; row++) {
        MemorySegment.copy(segment, at(row), MemorySegment.ofArray(bytes), (long) row * size, size);
        rest.add(segment.asSlice(at(row) + size, row < ROWS - 1 ? stride - size : 64));
      }
      for (MemorySegment between : rest) {
        for (byte left : between.toArray(ValueLayout.JAVA_BYTE)) {
          assertThat(left).isEqualTo(NOBODYS);
        }
      }
      return bytes;
    }
  }
}
