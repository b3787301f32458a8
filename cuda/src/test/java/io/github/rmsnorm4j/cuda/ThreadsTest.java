package io.github.rmsnorm4j.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import io.github.rmsnorm4j.cuda.driver.Kernel;
import io.github.rmsnorm4j.cuda.driver.LaunchShape;
import io.github.rmsnorm4j.cuda.driver.StubDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ThreadsTest {
  private static final String PTX =
      ".version 7.0\n.target sm_80\n.address_size 64\n"
          + ".visible .entry increment(.param .u64 x) { ret; }";

  /**
   * The stub refuses a call without its context, and memory and streams of another one, so a
   * context that is not current or the other device's would be an exception.
   */
  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "false, true", "true, true"})
  void manyThreadsUseTwoDevices(boolean virtual, boolean lazy) throws Exception {
    StubDriver stub = StubDriver.fresh();
    stub.devices(2);
    if (lazy) {
      stub.lazy();
    }
    stub.onLaunch(
        launch -> {
          MemorySegment x = stub.allocationAt(launch.parameters().get(JAVA_LONG, 0));
          x.set(JAVA_INT, 0, x.get(JAVA_INT, 0) + 1);
          return 0;
        });
    CudaSystem system = CudaSystem.look(stub.library());
    List<CudaDevice> devices = List.of(system.open(0).orElseThrow(), system.open(1).orElseThrow());
    Thread.Builder builder = virtual ? Thread.ofVirtual() : Thread.ofPlatform();
    try (ExecutorService threads = Executors.newThreadPerTaskExecutor(builder.factory())) {
      List<Future<?>> work = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        int first = i;
        work.add(threads.submit(() -> count(devices, first)));
      }
      for (Future<?> each : work) {
        each.get();
      }
      // Each thread of the system gets its own contexts back; here it had none.
      for (int i = 0; i < 20; i++) {
        assertThat(threads.submit(stub::contextsOfThread).get()).isZero();
      }
    }
    devices.forEach(CudaDevice::close);
    assertThat(stub.leaks()).isEmpty();
  }

  private static void count(List<CudaDevice> devices, int first) {
    try (Arena arena = Arena.ofConfined()) {
      List<CudaMemory> memories =
          devices.stream().map(device -> device.allocate(4, arena)).toList();
      List<CudaStream> streams = devices.stream().map(CudaDevice::stream).toList();
      memories.forEach(memory -> memory.copyFrom(MemorySegment.ofArray(new int[1])));
      for (int i = 0; i < 40; i++) {
        int at = (first + i) % 2;
        Kernel kernel = devices.get(at).context().module(PTX).kernel("increment");
        kernel.launch(
            new LaunchShape(1, 1, 0),
            streams.get(at).internal(),
            parameters(memories.get(at).address()),
            () -> "count");
        Thread.yield();
      }
      for (int at = 0; at < 2; at++) {
        streams.get(at).synchronize();
        int[] counted = new int[1];
        memories.get(at).copyTo(MemorySegment.ofArray(counted));
        assertThat(counted).containsExactly(20);
        streams.get(at).close();
      }
    }
  }

  private static byte[] parameters(long address) {
    return ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(address).array();
  }

  /** As another library does that works on another device in the same thread. */
  @Test
  void theContextOfTheCallerStaysCurrent() throws Throwable {
    StubDriver stub = StubDriver.fresh();
    stub.devices(2);
    CudaSystem system = CudaSystem.look(stub.library());
    CudaDevice device = system.open(0).orElseThrow();
    CudaDevice other = system.open(1).orElseThrow();
    List<Integer> contexts = new ArrayList<>();
    stub.onLaunch(
        outer -> {
          // The thread is in a call on one device, whose context is current to it.
          contexts.add(stub.contextsOfThread());
          other.stream().close();
          contexts.add(stub.contextsOfThread());
          return 0;
        });
    device
        .context()
        .module(PTX)
        .kernel("increment")
        .launch(new LaunchShape(1, 1, 0), device.stream().internal(), new byte[0], () -> "outer");
    stub.rethrow();
    assertThat(contexts).containsExactly(1, 1);
    assertThat(stub.contextsOfThread()).isZero();
    stub.fail(EntryPoint.STREAM_CREATE, 0, 2);
    assertThatThrownBy(device::stream).isInstanceOf(CudaException.class);
    assertThat(stub.contextsOfThread()).isZero();
    device.close();
    other.close();
  }

  @Test
  void aDeviceIsNotClosedUnderACall() throws Throwable {
    StubDriver stub = StubDriver.fresh();
    CudaDevice device = CudaSystem.look(stub.library()).open().orElseThrow();
    CountDownLatch inCall = new CountDownLatch(1);
    CountDownLatch refused = new CountDownLatch(1);
    stub.onLaunch(
        launch -> {
          inCall.countDown();
          try {
            refused.await();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          return 0;
        });
    Kernel kernel = device.context().module(PTX).kernel("increment");
    CudaStream stream = device.stream();
    Thread thread =
        Thread.ofPlatform()
            .start(
                () ->
                    kernel.launch(
                        new LaunchShape(1, 1, 0), stream.internal(), new byte[0], () -> ""));
    inCall.await();
    assertThatThrownBy(device::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("device 0 (Stub GPU A) is in use by another thread");
    refused.countDown();
    thread.join();
    stub.rethrow();
    stream.synchronize();
    device.close();
    assertThat(stub.leaks()).isEmpty();
  }
}
