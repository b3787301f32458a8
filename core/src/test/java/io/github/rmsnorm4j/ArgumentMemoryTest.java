package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Memory that is closed, of another thread or read-only is refused by the name of its argument,
 * whichever argument of whichever call it is. Kernels write and read without checks: nothing later
 * would notice.
 */
class ArgumentMemoryTest {
  private static final int WIDTH = 64;
  private static final RmsNorm NORM = RmsNorm.builder(WIDTH).build();
  private static final LayerNorm LAYER = LayerNorm.builder(WIDTH).build();
  private static final RmsNorm GATED = RmsNorm.builder(WIDTH).gate(Gate.SILU).build();

  private static Rows heap() {
    return Rows.of(new float[WIDTH], WIDTH);
  }

  private static QuantizedRows codes() {
    return QuantizedRows.of(new byte[WIDTH], new float[2], QuantizedType.int8(32), WIDTH);
  }

  /** Of a forward pass whose rows are all on the heap. */
  private static Saved saved() {
    Saved saved = new Saved(Keep.INPUT, 1);
    NORM.apply(heap(), heap(), saved);
    return saved;
  }

  private static Saved savedOfGate() {
    Saved saved = new Saved(Keep.INPUT, 1);
    GATED.applyGated(heap(), heap(), heap(), saved);
    return saved;
  }

  private static Arguments call(String call, String argument, Consumer<Rows> with) {
    return argumentSet(call + ", " + argument, argument, with);
  }

  /** Arguments that are read. */
  static Stream<Arguments> inputs() {
    return Stream.of(
        call("apply", "x", rows -> NORM.apply(rows, heap())),
        call("apply", "gain", rows -> NORM.withParameters(rows, null).apply(heap(), heap())),
        call("apply", "bias", rows -> LAYER.withParameters(heap(), rows).apply(heap(), heap())),
        call("applyGated", "x", rows -> GATED.applyGated(rows, heap(), heap())),
        call("applyGated", "z", rows -> GATED.applyGated(heap(), rows, heap())),
        call("applyAndAdd", "x", rows -> NORM.applyAndAdd(rows, heap(), NORM, heap())),
        call("apply to codes", "x", rows -> NORM.apply(rows, null, codes())),
        call("applyGated to codes", "z", rows -> GATED.applyGated(heap(), rows, null, codes())),
        call("quantize", "x", rows -> Quantizer.defaults().quantize(rows, codes())),
        call("backward", "dy", rows -> NORM.backward(rows, saved(), heap(), null)),
        call("backward", "dresidual", rows -> NORM.backward(heap(), saved(), rows, heap(), null)),
        call(
            "backwardGated",
            "dy",
            rows -> GATED.backwardGated(rows, savedOfGate(), heap(), heap(), null)));
  }

  /** Arguments that are written. */
  static Stream<Arguments> outputs() {
    return Stream.of(
        call("apply", "y", rows -> NORM.apply(heap(), rows)),
        call("addAndApply", "residual", rows -> NORM.addAndApply(heap(), rows, heap())),
        call("addAndApply", "y", rows -> NORM.addAndApply(heap(), heap(), rows)),
        call("applyGated", "y", rows -> GATED.applyGated(heap(), heap(), rows)),
        call("applyAndAdd", "residual", rows -> NORM.applyAndAdd(heap(), rows, NORM, heap())),
        call("applyAndAdd", "y", rows -> NORM.applyAndAdd(heap(), heap(), NORM, rows)),
        call("apply to y and codes", "y", rows -> NORM.apply(heap(), rows, codes())),
        call(
            "addAndApply to codes",
            "residual",
            rows -> NORM.addAndApply(heap(), rows, null, codes())),
        call("dequantize", "y", rows -> codes().dequantize(rows)),
        call("backward", "dx", rows -> NORM.backward(heap(), saved(), rows, null)),
        call(
            "backwardGated",
            "dx",
            rows -> GATED.backwardGated(heap(), savedOfGate(), rows, heap(), null)),
        call(
            "backwardGated",
            "dz",
            rows -> GATED.backwardGated(heap(), savedOfGate(), heap(), rows, null)));
  }

  static Stream<Arguments> all() {
    return Stream.concat(inputs(), outputs());
  }

  private static Rows in(Arena arena) {
    return Rows.of(arena.allocate(4 * WIDTH), ElementType.FLOAT32, 1, WIDTH);
  }

  @ParameterizedTest
  @MethodSource("all")
  void closedMemory(String argument, Consumer<Rows> call) {
    Rows closed;
    try (Arena arena = Arena.ofShared()) {
      closed = in(arena);
    }
    assertThatThrownBy(() -> call.accept(closed))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(argument + " is in memory that has been closed");
  }

  @ParameterizedTest
  @MethodSource("all")
  void memoryOfAnotherThread(String argument, Consumer<Rows> call) throws InterruptedException {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    try (Arena arena = Arena.ofConfined()) {
      Rows confined = in(arena);
      call.accept(confined); // Its own thread may.
      Thread other = new Thread(() -> call.accept(confined));
      other.setUncaughtExceptionHandler((ignored, e) -> thrown.set(e));
      other.start();
      other.join();
    }
    assertThat(thrown.get())
        .isInstanceOf(WrongThreadException.class)
        .hasMessage(argument + " is in memory that is confined to another thread");
  }

  @ParameterizedTest
  @MethodSource("outputs")
  void readOnlyMemoryThatWouldBeWritten(String argument, Consumer<Rows> call) {
    MemorySegment memory = MemorySegment.ofArray(new float[WIDTH]).asReadOnly();
    assertThatThrownBy(() -> call.accept(Rows.of(memory, ElementType.FLOAT32, 1, WIDTH)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(argument + " is read-only, it must be writable");
  }

  @ParameterizedTest
  @MethodSource("inputs")
  void readOnlyMemoryIsRead(String argument, Consumer<Rows> call) {
    MemorySegment memory = MemorySegment.ofArray(new float[WIDTH]).asReadOnly();
    call.accept(Rows.of(memory, ElementType.FLOAT32, 1, WIDTH));
  }
}
