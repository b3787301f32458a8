package io.github.rmsnorm4j.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.rmsnorm4j.cuda.CudaException;
import io.github.rmsnorm4j.cuda.CudaVersion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Kernels that fail, and what is said of them by the calls that come after. */
class LostContextTest {
  private static final String PTX =
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }";
  private static final String LOST =
      ". What is on the device is lost, and this process cannot use the device again";
  private static final LaunchShape ONE = new LaunchShape(1, 1, 0);

  private StubDriver stub;
  private DriverLibrary library;
  private CudaContext context;
  private Stream stream;
  private Kernel kernel;

  @BeforeEach
  void open() throws DriverUnavailable {
    stub = StubDriver.fresh();
    stub.devices(2);
    library = DriverLibrary.load(stub.library(), new CudaVersion(11, 0));
    context = new CudaContext(library, 0, "device 0 (GPU)");
    stream = Stream.create(context);
    kernel = context.module(PTX).kernel("k");
  }

  private void launch(Stream on, String call) {
    kernel.launch(ONE, on, new byte[0], () -> call);
  }

  @ParameterizedTest
  @ValueSource(
      ints = {4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911})
  void aFaultIsSaidWithTheKernelAndByAllCallsAfterIt(int code) {
    launch(stream, "a call that is done");
    stream.synchronize();
    stub.failKernel(code);
    launch(stream, "RmsNorm.apply(128 x 4096 float32)");
    CudaException first = catchThrowableOfType(CudaException.class, stream::synchronize);
    assertThat(first.code()).isEqualTo(code);
    assertThat(first.isContextLost()).isTrue();
    assertThat(first)
        .hasMessageStartingWith("cuStreamSynchronize: CUDA_ERROR_")
        .hasMessageEndingWith(
            " ("
                + code
                + "), meaning of "
                + code
                + ", after kernel k of RmsNorm.apply(128 x 4096 float32), on device 0 (GPU)"
                + LOST);
    String again = "device 0 (GPU) was lost before: " + first.getMessage();
    stub.calls();
    assertLost(stream::synchronize, code, again);
    assertLost(() -> launch(stream, "another"), code, again);
    assertLost(() -> Stream.create(context), code, again);
    assertLost(() -> context.call(EntryPoint.MEM_GET_INFO), code, again);
    assertThat(stub.calls()).as("the driver is not asked again").isEmpty();
    context.close(); // has nothing to say any more
  }

  private static void assertLost(Runnable call, int code, String message) {
    assertThatThrownBy(call::run)
        .isInstanceOfSatisfying(
            CudaException.class,
            e -> {
              assertThat(e.code()).isEqualTo(code);
              assertThat(e.isContextLost()).isTrue();
            })
        .hasMessage(message);
  }

  @Test
  void everyKernelThatMayHaveFailedIsNamed() {
    Stream other = Stream.create(context);
    launch(stream, "one");
    launch(other, "two");
    other.synchronize();
    launch(other, "three");
    stub.failKernel(700);
    launch(stream, "four");
    assertThatThrownBy(() -> launch(other, "five"))
        .hasMessage(
            "cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS (700), meaning of 700, after one of these:"
                + " kernel k of one; kernel k of three; kernel k of four, on device 0 (GPU)"
                + LOST);
  }

  @Test
  void kernelsThatAreDoneAreNotNamed() {
    launch(stream, "one");
    Stream same = Stream.wrap(context, stream.handle().address());
    launch(Stream.create(context), "two");
    launch(same, "three");
    same.synchronize();
    assertThat(context.launches().unfinished()).containsExactly("kernel k of two");
    try (Arena arena = Arena.ofConfined()) {
      Allocation.ofDevice(context, 1, arena); // waits for the device at its end
    }
    assertThat(context.launches().unfinished()).isEmpty();
    context.close();
  }

  @Test
  void kernelsBeforeAnEventThatWasWaitedForAreNotNamed() {
    try (Event event = new Event(context)) {
      launch(Stream.create(context), "one");
      launch(stream, "two");
      event.record(stream);
      launch(stream, "three");
      event.synchronize();
      assertThat(context.launches().unfinished())
          .containsExactly("kernel k of one", "kernel k of three");
    }
    context.close();
  }

  @Test
  void onlyTheLastLaunchesAreKept() {
    for (int i = 0; i < 20; i++) {
      launch(stream, "call " + i);
    }
    assertThat(context.launches().unfinished())
        .hasSize(8)
        .startsWith("kernel k of call 12")
        .endsWith("kernel k of call 19");
  }

  @Test
  void memoryOfALostDeviceIsFreedWithoutAnotherException() {
    Arena arena = Arena.ofConfined();
    Allocation.ofDevice(context, 10, arena);
    stub.failKernel(719);
    launch(stream, "a call");
    assertThatThrownBy(() -> Allocation.free(context)).isInstanceOf(CudaException.class);
    stub.calls();
    arena.close();
    stream.close();
    assertThat(stub.calls()).isEmpty();
    context.close();
    assertThat(stub.leaks()).doesNotContain("context");
  }

  /** Nobody has synchronized: the end of the memory is the first to see the error. */
  @Test
  void anErrorThatNobodyHasSeenIsThrownByTheEndOfTheMemory() {
    Arena arena = Arena.ofConfined();
    Allocation.ofDevice(context, 10, arena);
    stub.failKernel(719);
    launch(stream, "a call");
    assertThatThrownBy(arena::close)
        .isInstanceOf(CudaException.class)
        .hasMessageStartingWith("cuCtxSynchronize: CUDA_ERROR_LAUNCH_FAILED (719)")
        .hasMessageContaining("after kernel k of a call");
    context.close();
  }

  @Test
  void anErrorThatNobodyHasSeenIsThrownByTheEndOfTheDevice() {
    stub.failKernel(716);
    launch(stream, "a call");
    assertThatThrownBy(context::close)
        .isInstanceOf(CudaException.class)
        .hasMessageStartingWith("cuCtxSynchronize: CUDA_ERROR_MISALIGNED_ADDRESS (716)")
        .hasMessageContaining("after kernel k of a call");
    assertThat(stub.leaks()).doesNotContain("context");
    assertThatThrownBy(() -> Allocation.free(context)).hasMessage("device 0 (GPU) is closed");
  }

  @Test
  void anotherDeviceGoesOn() {
    CudaContext healthy = new CudaContext(library, 1, "device 1 (GPU)");
    stub.failKernel(700);
    launch(stream, "a call");
    assertThatThrownBy(stream::synchronize).isInstanceOf(CudaException.class);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment host = arena.allocateFrom("abc");
      long memory = Allocation.ofDevice(healthy, 4, arena).address();
      healthy.call(EntryPoint.MEMCPY_TO_DEVICE, memory, host, 4L);
      MemorySegment back = arena.allocate(4);
      healthy.call(EntryPoint.MEMCPY_TO_HOST, back, memory, 4L);
      assertThat(back.getString(0)).isEqualTo("abc");
    }
    healthy.close();
    context.close();
  }

  @Test
  void otherErrorsLeaveTheDeviceUsable() {
    for (int code : new int[] {1, 2, 3, 100, 201, 400, 600, 701, 801, 999}) {
      stub.fail(EntryPoint.STREAM_SYNCHRONIZE, 0, code);
      assertThatThrownBy(stream::synchronize)
          .isInstanceOfSatisfying(CudaException.class, e -> assertThat(e.isContextLost()).isFalse())
          .hasMessageEndingWith("(" + code + "), meaning of " + code + ", on device 0 (GPU)");
      stream.synchronize();
    }
    stub.fail(EntryPoint.CTX_PUSH_CURRENT, 0, 201);
    assertThatThrownBy(stream::synchronize)
        .hasMessageStartingWith("cuCtxPushCurrent_v2: CUDA_ERROR_INVALID_CONTEXT (201)");
    context.close();
    assertThat(stub.leaks()).isEmpty();
  }
}
