package io.github.rmsnorm4j.cuda;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import io.github.rmsnorm4j.cuda.driver.StubDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Quantised rows of a device are checked as those of the host, and so are the calls with them. */
class CudaQuantizedRowsTest extends TwoStubDevices {
  private static final int WIDTH = 64;
  private static final int ROWS = 4;
  private static final QuantizedType TYPE = QuantizedType.int8(32);
  private static final QuantizedType GIVEN = QuantizedType.e4m3Given();

  private final Arena arena = Arena.ofShared();
  private CudaStream stream;
  private CudaMemory memory;
  private MemorySegment host;

  @Override
  StubDriver driver() {
    return InterpretedDevice.behind(StubDriver.fresh());
  }

  @BeforeEach
  void open() {
    stream = device.stream();
    memory = device.allocate(8_000, arena);
    host = arena.allocate(8_000);
  }

  @AfterEach
  void close() {
    arena.close();
    if (stub != null) {
      stream.close();
    }
  }

  private interface Make<M, Q> {
    Q of(M codes, M scales);
  }

  /** The same rows, or the same exception. */
  private boolean same(
      Make<MemorySegment, QuantizedRows> onHost, Make<CudaMemory, CudaQuantizedRows> there) {
    MemorySegment hostCodes = host.asSlice(0, 1_000);
    MemorySegment hostScales = host.asSlice(4_000, 100);
    CudaMemory codes = memory.asSlice(0, 1_000);
    CudaMemory scales = memory.asSlice(4_000, 100);
    Throwable refused = catchThrowable(() -> onHost.of(hostCodes, hostScales));
    if (refused != null) {
      assertThatThrownBy(() -> there.of(codes, scales))
          .isInstanceOf(refused.getClass())
          .hasMessage(refused.getMessage());
      return false;
    }
    QuantizedRows wanted = onHost.of(hostCodes, hostScales);
    CudaQuantizedRows made = there.of(codes, scales);
    assertThat(made).hasToString(wanted.toString());
    assertThat(made.type()).isSameAs(wanted.type());
    assertThat(made.rows()).isEqualTo(wanted.rows());
    assertThat(made.width()).isEqualTo(wanted.width());
    assertThat(made.codeStride()).isEqualTo(wanted.codeStride());
    assertThat(made.scaleStride()).isEqualTo(wanted.scaleStride());
    assertThat(made.scale()).isEqualTo(wanted.scale());
    assertThat(made.codes().byteSize()).isEqualTo(wanted.codes().byteSize());
    assertThat(made.codes().address()).isEqualTo(codes.address());
    assertThat(made.scales() == null).isEqualTo(wanted.scales() == null);
    if (made.scales() != null) {
      assertThat(made.scales().byteSize()).isEqualTo(wanted.scales().byteSize());
      assertThat(made.scales().address()).isEqualTo(scales.address());
    }
    return true;
  }

  @Test
  void viewsAreCheckedAsThoseOfTheHost() {
    int made = 0;
    int refused = 0;
    for (QuantizedType type : QuantizedCase.TYPES) {
      for (long rows : new long[] {-1, 0, 3, 1_000}) {
        for (int width : new int[] {0, 33, 128, 256}) {
          boolean[] good = {
            same(
                (codes, scales) -> QuantizedRows.of(codes, scales, type, rows, width),
                (codes, scales) -> CudaQuantizedRows.of(codes, scales, type, rows, width)),
            same(
                (codes, scales) -> QuantizedRows.of(codes, 0.5f, type, rows, width),
                (codes, scales) -> CudaQuantizedRows.of(codes, 0.5f, type, rows, width)),
            same(
                (codes, scales) -> QuantizedRows.of(codes, 200, 0.5f, type, rows, width),
                (codes, scales) -> CudaQuantizedRows.of(codes, 200, 0.5f, type, rows, width)),
            same(
                (codes, scales) -> QuantizedRows.of(codes, 200, scales, 5, type, rows, width),
                (codes, scales) -> CudaQuantizedRows.of(codes, 200, scales, 5, type, rows, width)),
            same(
                (codes, scales) -> QuantizedRows.of(codes, -0f, type, rows, width),
                (codes, scales) -> CudaQuantizedRows.of(codes, -0f, type, rows, width))
          };
          for (boolean is : good) {
            made += is ? 1 : 0;
            refused += is ? 0 : 1;
          }
        }
      }
    }
    assertThat(made).isGreaterThan(100);
    assertThat(refused).isGreaterThan(400);
  }

  @Test
  void whatADeviceDoesNotHave() {
    for (QuantizedType type : List.of(QuantizedType.Q8_0, QuantizedType.Q8_1, QuantizedType.Q8_K)) {
      String message =
          "type is " + type + ", no kernel writes blocks of ggml: it must be int8 or FP8";
      refused(() -> CudaQuantizedRows.of(memory, memory, type, 1, 256), message);
      refused(() -> CudaQuantizedRows.of(memory, 512, memory, 9, type, 1, 256), message);
      refused(() -> CudaQuantizedRows.of(memory, 1f, type, 1, 256), message);
    }
    CudaMemory odd = memory.asSlice(4_002);
    refused(
        () -> CudaQuantizedRows.of(memory, odd, TYPE, 1, 32),
        "the scales begin at address 0x%x, they must begin at a multiple of 4"
            .formatted(odd.address()));
    CudaMemory theirs = other.allocate(1_000, arena);
    refused(
        () -> CudaQuantizedRows.of(memory, theirs, TYPE, 1, 32),
        "scales is memory of device 1 (Stub GPU B), codes is memory of device 0 (Stub GPU A)");
    assertThatThrownBy(() -> CudaQuantizedRows.of(null, memory, TYPE, 1, 32))
        .hasMessage("codes is null");
    assertThatThrownBy(() -> CudaQuantizedRows.of(memory, null, TYPE, 1, 32))
        .hasMessage("scales is null");
    assertThatThrownBy(() -> CudaQuantizedRows.of(memory, memory, null, 1, 32))
        .hasMessage("type is null");
  }

  private void refused(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessage(message);
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL)).isEmpty();
  }

  private Rows rows(int at, int rows, int width) {
    return Rows.of(host.asSlice(at), FLOAT32, rows, width);
  }

  private CudaRows there(int at, int rows, int width) {
    return CudaRows.of(memory.asSlice(at), FLOAT32, rows, width);
  }

  private QuantizedRows codes(int at, int scalesAt, int rows, int width) {
    return QuantizedRows.of(host.asSlice(at), host.asSlice(scalesAt), TYPE, rows, width);
  }

  private CudaQuantizedRows codesThere(int at, int scalesAt, int rows, int width) {
    return CudaQuantizedRows.of(memory.asSlice(at), memory.asSlice(scalesAt), TYPE, rows, width);
  }

  /** A call on the CPU and on the device are refused with one message. */
  private void sameRefusal(ThrowingCallable onHost, ThrowingCallable onDevice) {
    Throwable refusal = catchThrowable(onHost);
    assertThat(refusal).isNotNull();
    assertThatThrownBy(onDevice).isInstanceOf(refusal.getClass()).hasMessage(refusal.getMessage());
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL)).isEmpty();
  }

  /**
   * x is at 0, y or the residual at 1,024, codes at 3,072 and scales at 4,096, all in one memory.
   */
  @Test
  void callsAreCheckedAsThoseOfTheCpu() {
    Norm norm = RmsNorm.builder(WIDTH).build();
    CudaNorm onDevice = device.norm(norm, arena).on(stream);
    Rows x = rows(0, ROWS, WIDTH);
    CudaRows xThere = there(0, ROWS, WIDTH);
    Rows y = rows(1_024, ROWS, WIDTH);
    CudaRows yThere = there(1_024, ROWS, WIDTH);
    int[][] codesOf = {
      {3_072, 4_096, ROWS, 2 * WIDTH}, // width
      {3_072, 4_096, ROWS - 1, WIDTH}, // rows
      {512, 4_096, ROWS, WIDTH}, // codes in x
      {3_072, 1_020, ROWS, WIDTH}, // scales in x
      {3_072, 3_200, ROWS, WIDTH} // scales in codes
    };
    for (int[] q : codesOf) {
      QuantizedRows codes = codes(q[0], q[1], q[2], q[3]);
      CudaQuantizedRows there = codesThere(q[0], q[1], q[2], q[3]);
      sameRefusal(() -> norm.apply(x, null, codes), () -> onDevice.apply(xThere, null, there));
      sameRefusal(() -> norm.apply(x, y, codes), () -> onDevice.apply(xThere, yThere, there));
      sameRefusal(
          () -> norm.addAndApply(x, y, null, codes),
          () -> onDevice.addAndApply(xThere, yThere, null, there));
    }
    QuantizedRows inY = codes(1_500, 4_096, ROWS, WIDTH);
    CudaQuantizedRows inYThere = codesThere(1_500, 4_096, ROWS, WIDTH);
    sameRefusal(() -> norm.apply(x, y, inY), () -> onDevice.apply(xThere, yThere, inYThere));
    sameRefusal(
        () -> norm.addAndApply(x, y, null, inY),
        () -> onDevice.addAndApply(xThere, yThere, null, inYThere));
    sameRefusal(
        () -> norm.addAndApply(x, y, x, inY),
        () -> onDevice.addAndApply(xThere, yThere, xThere, inYThere));
    Rows shifted = rows(512, ROWS, WIDTH);
    QuantizedRows q = codes(3_072, 4_096, ROWS, WIDTH);
    CudaRows shiftedThere = there(512, ROWS, WIDTH);
    CudaQuantizedRows qThere = codesThere(3_072, 4_096, ROWS, WIDTH);
    sameRefusal(
        () -> norm.apply(x, shifted, q), () -> onDevice.apply(xThere, shiftedThere, qThere));
    sameRefusal(
        () -> norm.applyGated(x, y, null, q),
        () -> onDevice.applyGated(xThere, yThere, null, qThere));
    sameRefusal(
        () -> norm.applyGated(x, y, y, q),
        () -> onDevice.applyGated(xThere, yThere, yThere, qThere));
    nothing(onDevice, xThere, yThere, qThere);
  }

  private void nothing(CudaNorm norm, CudaRows x, CudaRows y, CudaQuantizedRows q) {
    CudaQuantizedRows none = null;
    assertThatThrownBy(() -> norm.apply(null, null, q)).hasMessage("x is null");
    assertThatThrownBy(() -> norm.apply(null, y, q)).hasMessage("x is null");
    assertThatThrownBy(() -> norm.apply(x, null, none)).hasMessage("q is null");
    assertThatThrownBy(() -> norm.apply(x, y, none)).hasMessage("q is null");
    assertThatThrownBy(() -> norm.addAndApply(x, null, null, q)).hasMessage("residual is null");
    assertThatThrownBy(() -> norm.addAndApply(x, null, y, q)).hasMessage("residual is null");
    assertThatThrownBy(() -> norm.applyGated(x, null, null, q)).hasMessage("z is null");
    assertThatThrownBy(() -> norm.applyGated(x, null, y, q)).hasMessage("z is null");
  }

  @Test
  void gatesAndMemoryOfOthers() {
    Norm gated = RmsNorm.builder(WIDTH).gate(Gate.SILU).build();
    CudaNorm onDevice = device.norm(gated, arena);
    Rows x = rows(0, ROWS, WIDTH);
    CudaRows xThere = there(0, ROWS, WIDTH);
    QuantizedRows q = codes(3_072, 4_096, ROWS, WIDTH);
    CudaQuantizedRows qThere = codesThere(3_072, 4_096, ROWS, WIDTH);
    sameRefusal(() -> gated.apply(x, null, q), () -> onDevice.apply(xThere, null, qThere));
    sameRefusal(
        () -> gated.applyGated(x, rows(0, 1, WIDTH), null, q),
        () -> onDevice.applyGated(xThere, there(0, 1, WIDTH), null, qThere));
    Rows z = rows(2_900, ROWS, WIDTH);
    CudaRows zThere = there(2_900, ROWS, WIDTH);
    sameRefusal(
        () -> gated.applyGated(x, z, null, q),
        () -> onDevice.applyGated(xThere, zThere, null, qThere));
    CudaMemory theirs = other.allocate(1_000, arena);
    CudaNorm norm = device.norm(RmsNorm.builder(WIDTH).build(), arena);
    refused(
        () -> norm.apply(xThere, null, CudaQuantizedRows.of(theirs, 1f, GIVEN, ROWS, WIDTH)),
        "q is in memory of device 1 (Stub GPU B), the norm is on device 0 (Stub GPU A)");
    CudaQuantizedRows freed;
    try (Arena shorter = Arena.ofConfined()) {
      freed = CudaQuantizedRows.of(device.allocate(1_000, shorter), 1f, GIVEN, ROWS, WIDTH);
    }
    assertThatThrownBy(() -> norm.apply(xThere, null, freed))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("codes of q are in memory that has been closed");
  }

  /**
   * A block of the row reaches over all groups: memory for the output is allocated once for a
   * stream, whatever views there are.
   */
  @Test
  void outputThatBlocksNeedAsAWholeIsKept() {
    CudaNorm norm = device.norm(RmsNorm.builder(WIDTH).groupCount(4).build(), arena);
    CudaNorm onStream = norm.on(stream);
    memory.copyFrom(host);
    CudaRows x = there(0, ROWS, WIDTH);
    QuantizedType type = QuantizedType.int8PerRow();
    CudaQuantizedRows q =
        CudaQuantizedRows.of(memory.asSlice(3_072), memory.asSlice(4_096), type, ROWS, WIDTH);
    CudaQuantizedRows same =
        CudaQuantizedRows.of(memory.asSlice(3_072), memory.asSlice(4_096), type, ROWS, WIDTH);
    stub.calls();
    onStream.apply(x, null, q);
    norm.on(stream).apply(x, null, same);
    stream.synchronize();
    assertThat(stub.calls(EntryPoint.MEM_ALLOC)).hasSize(1);
    norm.apply(x, null, q);
    assertThat(stub.calls(EntryPoint.MEM_ALLOC)).hasSize(1);
    stub.calls();
    CudaRows y = CudaRows.of(memory.asSlice(5_000), ElementType.FLOAT32, ROWS, WIDTH);
    onStream.apply(x, y, q);
    stream.synchronize();
    assertThat(stub.calls(EntryPoint.MEM_ALLOC)).isEmpty();
  }

  @Test
  void noRowsStartNothing() {
    CudaNorm norm = device.norm(RmsNorm.builder(WIDTH).groupCount(4).build(), arena);
    CudaQuantizedRows none =
        CudaQuantizedRows.of(memory, memory, QuantizedType.int8PerRow(), 0, WIDTH);
    norm.on(stream).apply(there(0, 0, WIDTH), null, none);
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL)).isEmpty();
  }
}
