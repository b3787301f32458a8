package io.github.rmsnorm4j.cuda;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import io.github.rmsnorm4j.cuda.driver.StubDriver;
import java.lang.foreign.Arena;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** For tests of calls that are refused: two devices, and a norm with rows on the first one. */
abstract class RefusedCalls extends TwoStubDevices {
  static final int WIDTH = 8;
  static final String DEVICE = "device 0 (Stub GPU A)";

  Arena arena;
  CudaStream stream;
  CudaNorm norm;
  CudaRows x;
  CudaRows y;

  @Override
  final StubDriver driver() {
    return InterpretedDevice.behind(StubDriver.fresh());
  }

  @BeforeEach
  final void open() {
    arena = Arena.ofShared();
    stream = device.stream();
    norm = onStream(LayerNorm.builder(WIDTH).gain(new float[WIDTH]).build());
    x = rows(FLOAT32, 4);
    y = rows(FLOAT32, 4);
    x.memory().copyFrom(arena.allocate(x.memory().byteSize()));
    stub.calls();
  }

  @AfterEach
  final void close() {
    if (stub != null) {
      arena.close();
      stream.close();
    }
  }

  final CudaNorm onStream(Norm norm) {
    return device.norm(norm, arena).on(stream);
  }

  final CudaRows rows(ElementType type, int rows) {
    return rows(type, rows, WIDTH);
  }

  final CudaRows rows(ElementType type, int rows, int width) {
    return CudaRows.of(
        device.allocate((long) rows * width * type.bytes(), arena), type, rows, width);
  }

  final void refused(ThrowingCallable call, Class<?> type, String message) {
    assertThatThrownBy(call).isInstanceOf(type).hasMessage(message);
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL)).isEmpty();
  }

  final void refused(ThrowingCallable call, String message) {
    refused(call, IllegalArgumentException.class, message);
  }

  static CudaGradients added(CudaRows gain, CudaRows bias) {
    return CudaGradients.added(gain, bias);
  }
}
