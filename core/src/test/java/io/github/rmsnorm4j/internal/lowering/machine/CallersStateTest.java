package io.github.rmsnorm4j.internal.lowering.machine;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.KernelsReady;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.machine.CallersState;
import io.github.rmsnorm4j.internal.norm.Payoff;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Native code may have left the thread another state of the floating-point unit: results are as
 * ever, and the state stays. The interpreter says so of the code; this is about the state that the
 * code finds in its frame.
 */
class CallersStateTest {
  private static final int ROUNDS_UP = 0x4000;
  private static final int OTHER = CallersState.FLUSHES | ROUNDS_UP;
  private static final List<Integer> STATES =
      List.of(CallersState.FLUSHES, CallersState.OF_JVM | ROUNDS_UP, OTHER);
  private static final int ROWS = 9;

  @ParameterizedTest
  @CsvSource({"256, 64", "256, 100", "512, 64", "512, 100"})
  void isNeitherUsedNorLost(int bits, int width) {
    assumeThat(bits).isLessThanOrEqualTo(Machine.here().bits());
    ElementType type = ElementType.FLOAT32;
    MachineKernel kernel =
        MachineKernel.of(
            TrialTest.stages(false, type, type, false, true, false), bits, width, false);
    assertThat(kernel).isNotNull();
    try (Arena arena = Arena.ofConfined()) {
      MachineFrame frame = frame(width, arena);
      MemorySegment y = arena.allocate((long) ROWS * width * Float.BYTES, Area.ALIGNMENT);
      frame.place(Forward.Y, null, y.address(), (long) width * Float.BYTES);
      kernel.run(frame, ROWS);
      MemorySegment expected = arena.allocate(y.byteSize()).copyFrom(y);
      y.fill((byte) 0);
      int after = CallersState.during(OTHER, () -> kernel.run(frame, ROWS));
      assertThat(after).isEqualTo(OTHER);
      assertThat(y.mismatch(expected)).isEqualTo(-1);
    }
  }

  /** The first call of a kernel's kind may come on such a thread: a kernel that is right passes. */
  @ParameterizedTest
  @FieldSource("STATES")
  void doesNotMakeTheTrialFail(int state) {
    int bits = Machine.here().bits();
    assumeThat(bits).as(Machine.here().whyNot()).isPositive();
    for (BackwardKind kind : BackwardKind.ofPairs(bits).subList(0, 8)) {
      requirePasses(kind.stages(), bits, state);
    }
    for (ElementType type : ForwardKind.TYPES) {
      requirePasses(TrialTest.stages(true, type, type, true, true, true), bits, state);
    }
  }

  private static void requirePasses(List<Stage> stages, int bits, int state) {
    for (int width : new int[] {0, 64}) {
      Target target = MachineKernel.target(stages, bits, width, false);
      MachineKernel kernel = MachineKernel.of(stages, bits, width, false);
      boolean[] passes = new boolean[1];
      int after = CallersState.during(state, () -> passes[0] = Trial.passes(target, kernel));
      assertThat(passes[0]).as(target.name()).isTrue();
      assertThat(after).isEqualTo(state);
    }
  }

  static Stream<Arguments> typesAndStates() {
    return Stream.of(QuantizedType.Q8_0, QuantizedType.int8(32))
        .flatMap(type -> STATES.stream().map(state -> Arguments.of(type, state)));
  }

  /** The scales of some blocks are subnormal. */
  @ParameterizedTest
  @MethodSource("typesAndStates")
  void doesNotChangeCodes(QuantizedType type, int state) throws Exception {
    assumeThat(Machine.here().bits()).as(Machine.here().whyNot()).isPositive();
    int width = 64;
    int rows = 1 << 12;
    Payoff.QUANTIZE.end(); // Plain Java does not set the state.
    float[] x = new float[rows * width];
    SplittableRandom random = new SplittableRandom(4);
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextDouble(-1, 1) * (i % width < width / 2 ? 1 : 1e-36f);
    }
    Codes expected = new Codes(type, rows, width);
    Codes found = new Codes(type, rows, width);
    Quantizer.defaults().quantize(Rows.of(x, width), expected.rows, 1);
    KernelsReady.await();
    int after =
        CallersState.during(
            state, () -> Quantizer.defaults().quantize(Rows.of(x, width), found.rows, 1));
    assertThat(after).isEqualTo(state);
    assertThat(found.codes.mismatch(expected.codes)).isEqualTo(-1);
    assertThat(found.scales.mismatch(expected.scales)).isEqualTo(-1);
  }

  private static final class Codes {
    final MemorySegment codes;
    final MemorySegment scales;
    final QuantizedRows rows;

    Codes(QuantizedType type, int rows, int width) {
      codes = MemorySegment.ofArray(new byte[rows * (int) type.rowBytes(width)]);
      scales = MemorySegment.ofArray(new float[rows * type.scales(width)]);
      this.rows =
          type.scales(width) == 0
              ? QuantizedRows.of(codes, type, rows, width)
              : QuantizedRows.of(codes, scales, type, rows, width);
    }
  }

  /** Rows around 1 whose gain is subnormal, so that every output is. */
  private static MachineFrame frame(int width, Arena arena) {
    MemorySegment x = arena.allocate((long) ROWS * width * Float.BYTES, Area.ALIGNMENT);
    for (int i = 0; i < ROWS * width; i++) {
      x.setAtIndex(JAVA_FLOAT, i, 1 + i % 37 / 64f);
    }
    MemorySegment gain = arena.allocate((long) width * Float.BYTES, Area.ALIGNMENT);
    for (int i = 0; i < width; i++) {
      gain.setAtIndex(JAVA_FLOAT, i, Float.MIN_NORMAL / (3 + i));
    }
    MachineFrame frame = new MachineFrame();
    frame.place(Forward.X, null, x.address(), (long) width * Float.BYTES);
    frame.point(Forward.GAIN, gain.address());
    frame.setWidth(width, width);
    frame.set(Forward.K, width);
    frame.set(Forward.EPSILON, 1e-5);
    return frame;
  }
}
