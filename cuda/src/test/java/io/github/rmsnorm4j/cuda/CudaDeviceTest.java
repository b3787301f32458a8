package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import io.github.rmsnorm4j.cuda.driver.StubDriver;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class CudaDeviceTest {
  @Test
  void withoutADriverNothingIsThereAndTheReasonIsSaid() {
    CudaSystem system = CudaSystem.look("libnothere.so.1");
    assertThat(system.open()).isEmpty();
    assertThat(system.open(3)).isEmpty();
    assertThat(system.devices()).isEmpty();
    assertThat(system.driverVersion()).isEmpty();
    assertThat(system.missing().orElseThrow()).startsWith("libnothere.so.1 cannot be loaded");
  }

  @Test
  void withoutADeviceTheReasonIsSaid() {
    StubDriver stub = StubDriver.fresh();
    stub.devices(0);
    CudaSystem system = CudaSystem.look(stub.library());
    assertThat(system.open()).isEmpty();
    assertThat(system.missing()).contains("cuInit: CUDA_ERROR_NO_DEVICE (100), meaning of 100");
  }

  @Test
  void aDriverThatFailsWhileLookingIsNamed() {
    StubDriver stub = StubDriver.fresh();
    stub.fail(EntryPoint.DEVICE_TOTAL_MEM, 0, 999);
    assertThat(CudaSystem.look(stub.library()).missing())
        .contains("cuDeviceTotalMem_v2: CUDA_ERROR_UNKNOWN (999), meaning of 999");
  }

  @Test
  void aDeviceOfTooOldAKindIsNamedWithWhatIsNeeded() {
    StubDriver stub = StubDriver.fresh();
    stub.device(0, 6, 1, 1 << 30);
    CudaSystem system = CudaSystem.look(stub.library());
    String why = "device 0 (Stub GPU A) has compute capability 6.1, it must have 7.0 or newer";
    assertThat(system.missing()).contains(why);
    assertThat(system.open()).isEmpty();
    assertThat(system.open(0)).isEmpty();
    assertThat(system.driverVersion()).contains(new CudaVersion(12, 4));

    stub.devices(2);
    CudaSystem two = CudaSystem.look(stub.library());
    assertThat(two.missing()).isEmpty();
    assertThat(two.devices())
        .containsExactly(
            new CudaDeviceInfo(0, "Stub GPU A", new CudaVersion(6, 1), 1L << 30, Optional.of(why)),
            new CudaDeviceInfo(1, "Stub GPU B", new CudaVersion(9, 0), 1L << 30, Optional.empty()));
    try (CudaDevice device = two.open().orElseThrow()) {
      assertThat(device).hasToString("device 1 (Stub GPU B)");
      assertThat(device.info()).isEqualTo(two.devices().get(1));
    }
    assertThat(stub.leaks()).isEmpty();
  }

  @Test
  void aNumberThatNoDeviceHasIsNamed() {
    StubDriver stub = StubDriver.fresh();
    stub.devices(2);
    CudaSystem system = CudaSystem.look(stub.library());
    for (int index : new int[] {-1, 2}) {
      assertThatThrownBy(() -> system.open(index))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("device is " + index + ", it may be 0 to 1");
    }
  }

  @Test
  void aDeviceThatTheDriverRefusesIsAnException() {
    StubDriver stub = StubDriver.fresh();
    CudaSystem system = CudaSystem.look(stub.library());
    stub.fail(EntryPoint.DEVICE_PRIMARY_CTX_RETAIN, 0, 46);
    assertThatThrownBy(system::open)
        .isInstanceOf(CudaException.class)
        .hasMessage("cuDevicePrimaryCtxRetain: CUDA_ERROR_DEVICE_UNAVAILABLE (46), meaning of 46");
    assertThat(stub.leaks()).isEmpty();
  }

  @Test
  void aClosedDeviceGivesEverythingBackAndSaysThatItIsClosed() {
    StubDriver stub = StubDriver.fresh();
    CudaDevice device = CudaSystem.look(stub.library()).open().orElseThrow();
    CudaStream stream = device.stream();
    Arena arena = Arena.ofConfined();
    CudaMemory memory = device.allocate(100, arena);
    assertThat(stub.leaks()).isEqualTo("streams: 1 device memory: 1 context 0: 1");
    device.close();
    assertThat(stub.leaks()).isEmpty();
    device.close();

    String closed = "device 0 (Stub GPU A) is closed";
    assertThatThrownBy(() -> device.allocate(1, arena))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(closed);
    assertThatThrownBy(device::stream).hasMessage(closed);
    assertThatThrownBy(device::freeBytes).hasMessage(closed);
    assertThatThrownBy(() -> memory.copyFrom(arena.allocate(4))).hasMessage(closed);
    assertThatThrownBy(stream::synchronize)
        .hasMessage("the stream on device 0 (Stub GPU A) is closed");
    stream.close();
    arena.close();
    stub.calls();
  }

  @Test
  void twoOpenedDevicesOfOneNumberShareTheContext() {
    StubDriver stub = StubDriver.fresh();
    CudaSystem system = CudaSystem.look(stub.library());
    try (Arena arena = Arena.ofConfined()) {
      try (CudaDevice one = system.open(0).orElseThrow();
          CudaDevice other = system.open(0).orElseThrow();
          CudaStream stream = other.stream()) {
        CudaMemory memory = one.allocate(4, arena);
        memory.copyFrom(arena.allocateFrom("abc"), stream);
        stream.synchronize();
        assertThat(stub.leaks()).endsWith("context 0: 2");
      }
      assertThat(stub.leaks()).isEmpty();
    }
  }

  @Test
  void aFailureOfTheLastWorkIsThrownByCloseAndNothingLeaks() {
    StubDriver stub = StubDriver.fresh();
    CudaDevice device = CudaSystem.look(stub.library()).open().orElseThrow();
    device.stream();
    stub.fail(EntryPoint.STREAM_DESTROY, 0, 400);
    device.stream();
    assertThatThrownBy(device::close)
        .isInstanceOf(CudaException.class)
        .hasMessage(
            "cuStreamDestroy_v2: CUDA_ERROR_INVALID_HANDLE (400), meaning of 400, on device 0"
                + " (Stub GPU A)");
    assertThat(stub.leaks()).isEqualTo("streams: 1"); // the one that was refused
  }

  /** As after a reset of the device by another library. */
  @Test
  void aContextThatIsGoneIsSaidAndGivenBack() {
    StubDriver stub = StubDriver.fresh();
    CudaDevice device = CudaSystem.look(stub.library()).open().orElseThrow();
    stub.fail(EntryPoint.CTX_PUSH_CURRENT, 0, 709);
    assertThatThrownBy(device::close)
        .isInstanceOf(CudaException.class)
        .hasMessageStartingWith("cuCtxPushCurrent_v2: CUDA_ERROR_CONTEXT_IS_DESTROYED (709)");
    assertThat(stub.leaks()).isEmpty();
    assertThat(stub.contextsOfThread()).isZero();
  }

  @Test
  void memoryIsFreedAlsoIfTheWaitBeforeFails() {
    StubDriver stub = StubDriver.fresh();
    try (CudaDevice device = CudaSystem.look(stub.library()).open().orElseThrow()) {
      Arena arena = Arena.ofConfined();
      device.allocate(1, arena);
      stub.fail(EntryPoint.CTX_SYNCHRONIZE, 0, 999);
      assertThatThrownBy(arena::close).hasMessageStartingWith("cuCtxSynchronize: ");
    }
    assertThat(stub.calls(EntryPoint.MEM_FREE)).hasSize(1);
    assertThat(stub.leaks()).isEmpty();
  }

  /** As when the garbage collector frees memory of an automatic arena, which nobody can foresee. */
  @Test
  void closingWaitsForMemoryThatAnotherThreadFrees() throws Exception {
    StubDriver stub = StubDriver.fresh();
    stub.lazy();
    CountDownLatch waits = new CountDownLatch(1);
    Semaphore done = new Semaphore(0);
    stub.onLaunch(
        launch -> {
          waits.countDown();
          done.acquireUninterruptibly();
          return 0;
        });
    CudaDevice device = CudaSystem.look(stub.library()).open().orElseThrow();
    Arena arena = Arena.ofShared();
    CudaRows x = CudaRows.of(device.allocate(8, arena), ElementType.FLOAT32, 1, 2);
    device.norm(RmsNorm.builder(2).build(), Arena.global()).apply(x, x);
    Thread frees = new Thread(arena::close);
    frees.start();
    waits.await(); // within cuCtxSynchronize, before the memory is freed
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread closes =
        new Thread(
            () -> {
              try {
                device.close();
              } catch (Throwable e) {
                thrown.set(e);
              }
            });
    closes.start();
    while (closes.isAlive() && closes.getState() != Thread.State.TIMED_WAITING) {
      Thread.sleep(1); // until it waits, or has not waited
    }
    assertThat(thrown.get()).isNull();
    assertThat(closes.isAlive()).isTrue();
    done.release();
    closes.join();
    frees.join();
    assertThat(thrown.get()).isNull();
    assertThat(stub.leaks()).isEmpty();
  }

  /** In JVMs of their own, as a process looks for its driver once. */
  @Test
  void aPropertyNamesTheLibrary() throws Exception {
    StubDriver stub = StubDriver.fresh();
    assertThat(look("-Drmsnorm4j.cuda.library=" + stub.library()))
        .isEqualTo("Optional.empty Optional[12.4] [device 0 (Stub GPU A)] true true");
    assertThat(look("-Drmsnorm4j.cuda.library=/not/there.so"))
        .isEqualTo(
            "Optional[/not/there.so cannot be loaded: it comes with the driver of an NVIDIA GPU]"
                + " Optional.empty [] false false");
  }

  @Test
  void withoutNativeAccessTheFlagIsNamed() throws Exception {
    assertThat(look("--illegal-native-access=deny"))
        .startsWith("Optional[native access is denied: the JVM needs --enable-native-access=");
  }

  private static String look(String flag) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), flag));
    if (!flag.contains("deny")) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), LookingProgram.class.getName()));
    Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(child.getInputStream().readAllBytes()).strip();
    assertThat(child.waitFor()).as(output).isZero();
    return output;
  }

  /** Prints what the public methods say. */
  static final class LookingProgram {
    private LookingProgram() {}

    public static void main(String[] arguments) {
      Optional<String> missing = CudaDevice.missing();
      System.out.println(
          missing
              + " "
              + CudaDevice.driverVersion()
              + " "
              + CudaDevice.devices()
              + " "
              + CudaDevice.open().isPresent()
              + " "
              + CudaDevice.open(0).isPresent());
    }
  }
}
