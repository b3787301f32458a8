package io.github.rmsnorm4j.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.cuda.CudaException;
import io.github.rmsnorm4j.cuda.CudaVersion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
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
  void aLaunchHasItsShapeAndItsParametersWithTheirTypes() throws Throwable {
    stub.onLaunch(
        launch -> {
          MemorySegment values = launch.parameters();
          assertThat(values.byteSize()).isEqualTo(44);
          assertThat(values.get(JAVA_INT, 0)).isEqualTo(-5);
          assertThat(values.get(JAVA_LONG, 8)).isEqualTo(0x123456789ABCDEFL);
          assertThat(values.get(JAVA_FLOAT, 16)).isEqualTo(1.5f);
          assertThat(values.get(JAVA_DOUBLE, 24)).isEqualTo(Math.PI);
          assertThat(values.get(JAVA_INT, 32)).isEqualTo(7);
          assertThat(values.get(JAVA_INT, 36)).isEqualTo(8);
          assertThat(values.get(JAVA_INT, 40)).isEqualTo(9);
          launches.add(launch);
          return 0;
        });
    Parameters parameters =
        new Parameters()
            .int32(-5)
            .int64(0x123456789ABCDEFL)
            .float32(1.5f)
            .float64(Math.PI)
            .int32(7)
            .int32(8)
            .int32(9);
    kernel("twice").launch(new LaunchShape(70_000, 256, 1024), stream, parameters, () -> "");
    stub.rethrow();
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
          MemorySegment x = stub.memoryAt(launch.parameters().get(JAVA_LONG, 0));
          assertThat(x.byteSize()).isEqualTo(12);
          for (int i = 0; i < launch.parameters().get(JAVA_INT, 8); i++) {
            x.setAtIndex(JAVA_FLOAT, i, 2 * x.getAtIndex(JAVA_FLOAT, i));
          }
          return 0;
        });
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment host = arena.allocateFrom(JAVA_FLOAT, 1, 2, 3);
      long x = Allocation.ofDevice(context, 12, arena).address();
      context.call(EntryPoint.MEMCPY_TO_DEVICE_ASYNC, x, host, 12L, stream.handle());
      kernel("twice")
          .launch(new LaunchShape(1, 32, 0), stream, new Parameters().int64(x).int32(3), () -> "");
      context.call(EntryPoint.MEMCPY_TO_HOST_ASYNC, host, x, 12L, stream.handle());
      stream.synchronize();
      stub.rethrow();
      assertThat(host.toArray(JAVA_FLOAT)).containsExactly(2, 4, 6);
    }
  }

  @Test
  void manyParametersFitUpToTheLimitOfPtx() {
    List<Long> bytes = new ArrayList<>();
    stub.onLaunch(
        launch -> {
          bytes.add(launch.parameters().byteSize());
          bytes.add(launch.parameters().getAtIndex(JAVA_LONG, 511));
          return 0;
        });
    Parameters parameters = new Parameters();
    IntStream.range(0, 512).forEach(parameters::int64);
    kernel("twice").launch(ONE, stream, parameters, () -> "");
    assertThat(bytes).containsExactly(4096L, 511L);
    assertThatThrownBy(() -> parameters.int32(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("parameters have more than the 4096 bytes that PTX allows");
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
            () ->
                kernel.launch(
                    new LaunchShape(1, 1025, 0), stream, new Parameters(), () -> "a call"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("kernel nothing: 1025 threads a block, " + NAME + " allows 1024");
  }

  @Test
  void muchSharedMemoryIsAskedForOnce() {
    Kernel kernel = kernel("nothing");
    stub.onLaunch(launch -> launches.add(launch) ? 0 : 1);
    for (int bytes : new int[] {48 << 10, 100_000, 100_000, 99_000}) {
      kernel.launch(new LaunchShape(1, 1, bytes), stream, new Parameters(), () -> "");
    }
    assertThat(launches)
        .extracting(StubLaunch::sharedBytes)
        .containsExactly(49152, 100_000, 100_000, 99_000);
    assertThat(stub.calls(EntryPoint.FUNC_SET_ATTRIBUTE)).hasSize(1);
    assertThatThrownBy(
            () -> kernel.launch(new LaunchShape(1, 1, 300_000), stream, new Parameters(), () -> ""))
        .isInstanceOf(CudaException.class)
        .hasMessage(
            "cuFuncSetAttribute: CUDA_ERROR_INVALID_VALUE (1), meaning of 1, for 300000 shared bytes"
                + " of kernel nothing, on "
                + NAME);
  }

  @Test
  void aLaunchThatTheDriverRefusesIsNamedAndNothingElseIsHarmed() {
    Kernel kernel = kernel("nothing");
    stub.fail(EntryPoint.LAUNCH_KERNEL, 0, 701);
    assertThatThrownBy(
            () -> kernel.launch(ONE, stream, new Parameters(), () -> "RmsNorm.apply(2 x 3)"))
        .isInstanceOf(CudaException.class)
        .hasMessage(
            "cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701), meaning of 701, for kernel"
                + " nothing of RmsNorm.apply(2 x 3), on "
                + NAME);
    assertThat(context.launches().unfinished()).isEmpty();
    kernel.launch(ONE, stream, new Parameters(), () -> "");
    stream.synchronize();
  }

  @Test
  void aStreamOfAnotherDeviceIsNamed() throws DriverUnavailable {
    DriverLibrary library = DriverLibrary.load(stub.library(), new CudaVersion(11, 0));
    CudaContext other = new CudaContext(library, 1, "device 1 (GPU)");
    Stream theirs = Stream.create(other);
    Kernel kernel = kernel("nothing");
    assertThatThrownBy(() -> kernel.launch(ONE, theirs, new Parameters(), () -> ""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("kernel nothing is on " + NAME + ", the stream is on device 1 (GPU)");
    stream.close();
    assertThatThrownBy(() -> kernel.launch(ONE, stream, new Parameters(), () -> ""))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the stream on " + NAME + " is closed");
    other.close();
  }

  private Kernel kernel(String name) {
    return context.module(PTX).kernel(name);
  }
}
