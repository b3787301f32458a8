package io.github.rmsnorm4j.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.cuda.CudaException;
import io.github.rmsnorm4j.cuda.CudaVersion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class KernelTest {
  private static final String PTX =
      """
      .version 7.0
      .target sm_80
      .address_size 64
      .visible .entry twice(.param .u64 x, .param .u32 n) { ret; }
      .visible .entry nothing() { ret; }
      """;
  private static final String NAME = "device 0 (GPU)";
  private static final LaunchShape ONE = new LaunchShape(1, 1, 0);

  private final List<StubLaunch> launches = new ArrayList<>();
  private StubDriver stub;
  private CudaContext context;
  private Stream stream;

  @BeforeEach
  void open() throws DriverUnavailable {
    stub = StubDriver.fresh();
    stub.devices(2);
    DriverLibrary library = DriverLibrary.load(stub.library(), new CudaVersion(11, 0));
    context = new CudaContext(library, 0, NAME);
    stream = Stream.create(context);
  }

  @AfterEach
  void nothingLeaks() throws Throwable {
    if (stub != null) {
      context.close();
      assertThat(stub.leaks()).isEmpty();
      stub.rethrow();
    }
  }

  @Test
  void aLaunchHasItsShapeAndItsParameters() throws Throwable {
    List<byte[]> received = new ArrayList<>();
    stub.onLaunch(
        launch -> {
          received.add(launch.parameters().toArray(JAVA_BYTE));
          launches.add(launch);
          return 0;
        });
    byte[] parameters = new byte[4096]; // as many as PTX allows
    new Random(3).nextBytes(parameters);
    Kernel kernel = kernel("twice");
    kernel.launch(new LaunchShape(70_000, 256, 1024), stream, parameters, () -> "");
    kernel.launch(ONE, stream, new byte[] {1, 2, 3}, () -> "");
    kernel.launch(ONE, stream, new byte[0], () -> "");
    stub.rethrow();
    assertThat(received).containsExactly(parameters, new byte[] {1, 2, 3}, new byte[0]);
    StubLaunch launch = launches.getFirst();
    assertThat(launch.ptx()).isEqualTo(PTX);
    assertThat(launch.kernel()).isEqualTo("twice");
    assertThat(launch.grid()).containsExactly(70_000, 1, 1);
    assertThat(launch.block()).containsExactly(256, 1, 1);
    assertThat(launch.sharedBytes()).isEqualTo(1024);
  }

  /** The way that a kernel of the library goes, with Java in place of the device. */
  @Test
  void aKernelReadsAndWritesMemoryOfTheDevice() throws Throwable {
    stub.onLaunch(
        launch -> {
          MemorySegment x = stub.allocationAt(launch.parameters().get(JAVA_LONG_UNALIGNED, 0));
          assertThat(x.byteSize()).isEqualTo(12);
          for (int i = 0; i < launch.parameters().get(JAVA_INT_UNALIGNED, 8); i++) {
            x.setAtIndex(JAVA_FLOAT, i, 2 * x.getAtIndex(JAVA_FLOAT, i));
          }
          return 0;
        });
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment host = arena.allocateFrom(JAVA_FLOAT, 1, 2, 3);
      long x = Allocation.ofDevice(context, 12, arena).address();
      context.call(EntryPoint.MEMCPY_TO_DEVICE_ASYNC, x, host, 12L, stream.handle());
      kernel("twice")
          .launch(
              new LaunchShape(1, 32, 0),
              stream,
              ByteBuffer.allocate(12).order(ByteOrder.nativeOrder()).putLong(x).putInt(3).array(),
              () -> "");
      context.call(EntryPoint.MEMCPY_TO_HOST_ASYNC, host, x, 12L, stream.handle());
      stream.synchronize();
      stub.rethrow();
      assertThat(host.toArray(JAVA_FLOAT)).containsExactly(2, 4, 6);
    }
  }

  @Test
  void aTextIsCompiledOnceForADevice() {
    stub.calls();
    Kernel kernel = kernel("twice");
    assertThat(kernel("twice")).isSameAs(kernel);
    assertThat(kernel("nothing").name()).isEqualTo("nothing");
    assertThat(context.module(new StringBuilder(PTX).toString()).kernel("twice")).isSameAs(kernel);
    assertThat(stub.calls(EntryPoint.MODULE_LOAD_DATA_EX)).hasSize(1);
    assertThat(kernel.registers()).isEqualTo(32);
    assertThat(kernel.localBytes()).isEqualTo(16);
  }

  @Test
  void theLogOfTheCompilerIsInTheMessage() {
    for (int again = 0; again < 2; again++) {
      assertThatThrownBy(() -> context.module("mov.u32 x, y;"))
          .isInstanceOf(CudaException.class)
          .hasMessage(
              "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218), meaning of 218: ptxas application,"
                  + " line 1; fatal: no .version; ptxas fatal, on "
                  + NAME);
    }
    stub.fail(EntryPoint.MODULE_LOAD_DATA_EX, 0, 222);
    assertThatThrownBy(() -> context.module(PTX))
        .hasMessage(
            "cuModuleLoadDataEx: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222), meaning of 222, on "
                + NAME);
  }

  @Test
  void aKernelThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> kernel("thrice"))
        .isInstanceOf(CudaException.class)
        .hasMessage(
            "cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500), meaning of 500, for kernel thrice, on "
                + NAME);
  }

  @Test
  void shapesThatCannotBeAreNamed() {
    assertThatThrownBy(() -> new LaunchShape(0, 1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("blocks is 0, it must be at least 1");
    assertThatThrownBy(() -> new LaunchShape(1, -1, 0))
        .hasMessage("threads is -1, it must be at least 1");
    assertThatThrownBy(() -> new LaunchShape(1, 1, -1))
        .hasMessage("sharedBytes is -1, it must be at least 0");
    Kernel kernel = kernel("nothing");
    assertThatThrownBy(
            () -> kernel.launch(new LaunchShape(1, 1025, 0), stream, new byte[0], () -> "a call"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("kernel nothing: 1025 threads a block, " + NAME + " allows 1024");
  }

  @Test
  void aLaunchThatTheDriverRefusesIsNamedAndNothingElseIsHarmed() {
    Kernel kernel = kernel("nothing");
    stub.fail(EntryPoint.LAUNCH_KERNEL, 0, 701);
    assertThatThrownBy(() -> kernel.launch(ONE, stream, new byte[0], () -> "RmsNorm.apply(2 x 3)"))
        .isInstanceOf(CudaException.class)
        .hasMessage(
            "cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701), meaning of 701, for kernel"
                + " nothing of RmsNorm.apply(2 x 3), on "
                + NAME);
    assertThat(context.launches().unfinished()).isEmpty();
    kernel.launch(ONE, stream, new byte[0], () -> "");
    stream.synchronize();
  }

  @Test
  void aBlockMayHaveAThirdOfTheSharedMemoryOfAMultiprocessor() {
    Kernel kernel = kernel("nothing");
    int most = context.sharedBytes();
    assertThat(most).isEqualTo(75 << 10);
    kernel.launch(new LaunchShape(1, 32, most), stream, new byte[0], () -> "");
    LaunchShape more = new LaunchShape(1, 32, most + 1);
    assertThatThrownBy(() -> kernel.launch(more, stream, new byte[0], () -> "a call"))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("cuLaunchKernel: CUDA_ERROR_INVALID_VALUE");
    stream.synchronize();
  }

  @Test
  void aStreamOfAnotherDeviceIsNamed() throws DriverUnavailable {
    DriverLibrary library = DriverLibrary.load(stub.library(), new CudaVersion(11, 0));
    CudaContext other = new CudaContext(library, 1, "device 1 (GPU)");
    Stream theirs = Stream.create(other);
    Kernel kernel = kernel("nothing");
    assertThatThrownBy(() -> kernel.launch(ONE, theirs, new byte[0], () -> ""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("kernel nothing is on " + NAME + ", the stream is on device 1 (GPU)");
    stream.close();
    assertThatThrownBy(() -> kernel.launch(ONE, stream, new byte[0], () -> ""))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the stream on " + NAME + " is closed");
    other.close();
  }

  private Kernel kernel(String name) {
    return context.module(PTX).kernel(name);
  }
}
