package io.github.rmsnorm4j.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class CudaEventTest extends TwoStubDevices {
  private static final String NAME = "device 0 (Stub GPU A)";

  /** With a driver that does nothing before it is waited for. */
  @Test
  void aStreamWaitsForTheMarkOfAnotherOne() {
    stub.lazy();
    try (Arena arena = Arena.ofConfined();
        CudaStream copies = device.stream();
        CudaStream kernels = device.stream();
        CudaEvent arrived = device.event()) {
      MemorySegment from = device.allocatePinned(4, arena);
      MemorySegment back = device.allocatePinned(8, arena);
      CudaMemory memory = device.allocate(4, arena);
      memory.copyFrom(from.fill((byte) 0));
      from.set(JAVA_INT, 0, 7);
      memory.copyFrom(from, copies);

      memory.copyTo(back.asSlice(0, 4), kernels);
      kernels.synchronize();
      assertThat(back.get(JAVA_INT, 0)).as("nobody has waited").isZero();

      arrived.record(copies);
      kernels.waitFor(arrived);
      memory.asSlice(0, 1).copyFrom(back.asSlice(0, 1), copies); // behind the mark
      memory.copyTo(back.asSlice(4), kernels);
      stub.calls();
      kernels.synchronize();
      assertThat(stub.calls(EntryPoint.STREAM_SYNCHRONIZE)).hasSize(1);
      assertThat(back.get(JAVA_INT, 4)).isEqualTo(7);
    }
  }

  /** A stream waits for the mark that was the last one when it was told to. */
  @Test
  void aMarkThatIsSetLaterDoesNotMatter() {
    stub.lazy();
    try (Arena arena = Arena.ofConfined();
        CudaStream one = device.stream();
        CudaStream two = device.stream();
        CudaEvent event = device.event()) {
      MemorySegment numbers = device.allocatePinned(8, arena);
      MemorySegment back = device.allocatePinned(4, arena);
      numbers.set(JAVA_INT, 0, 1);
      numbers.set(JAVA_INT, 4, 2);
      CudaMemory memory = device.allocate(4, arena);
      memory.copyFrom(numbers.asSlice(0, 4), one);
      event.record(one);
      two.waitFor(event);
      memory.copyFrom(numbers.asSlice(4, 4), one);
      event.record(one);
      memory.copyTo(back, two);
      two.synchronize();
      assertThat(back.get(JAVA_INT, 0)).isEqualTo(1);
      event.synchronize();
      memory.copyTo(back);
      assertThat(back.get(JAVA_INT, 0)).isEqualTo(2);
    }
  }

  @Test
  void theProcessorWaitsForTheMarkAndForNothingElse() {
    stub.lazy();
    try (Arena arena = Arena.ofConfined();
        CudaStream one = device.stream();
        CudaStream two = device.stream();
        CudaEvent event = device.event()) {
      MemorySegment host = device.allocatePinned(12, arena);
      CudaMemory memory = device.allocate(4, arena);
      memory.copyFrom(MemorySegment.ofArray(new int[] {7}));
      host.fill((byte) 0);
      memory.copyTo(host.asSlice(0, 4), one);
      memory.copyTo(host.asSlice(4, 4), two);
      event.record(one);
      memory.copyTo(host.asSlice(8, 4), one);
      event.synchronize();
      assertThat(host.toArray(JAVA_INT)).containsExactly(7, 0, 0);
      one.synchronize();
      assertThat(host.toArray(JAVA_INT)).containsExactly(7, 0, 7);
    }
  }

  @Test
  void theTimeBetweenTwoMarksOfAStream() {
    try (CudaStream stream = device.stream();
        CudaEvent from = device.event();
        CudaEvent to = device.event()) {
      assertThat(from.device()).isSameAs(device);
      from.record(stream);
      to.record(device.wrapStream(stream.handle())); // the same stream
      stub.calls();
      assertThat(to.millisecondsSince(from)).isEqualTo(1.5); // as the stub counts
      assertThat(stub.calls().stream().filter(call -> !call.contains("Current")))
          .satisfiesExactly(
              call -> assertThat(call).startsWith("cuEventSynchronize"),
              call -> assertThat(call).startsWith("cuEventElapsedTime"));
      from.record(stream);
      to.record(stream);
      assertThat(to.millisecondsSince(from)).isEqualTo(1.5);
    }
  }

  @Test
  void anEventOfAnotherStreamIsNamed() {
    try (CudaStream one = device.stream();
        CudaStream two = device.stream();
        CudaEvent from = device.event();
        CudaEvent to = device.event()) {
      from.record(one);
      to.record(two);
      stub.calls();
      assertRefused(
          () -> to.millisecondsSince(from),
          "the earlier event was recorded on another stream of "
              + NAME
              + ": both must be on one stream");
      from.record(two);
      stub.calls();
      assertRefused(
          () -> to.millisecondsSince(from),
          "the earlier event on " + NAME + " was recorded after this one");
    }
  }

  @Test
  void anEventOfAnotherDeviceIsNamed() {
    try (CudaStream ours = device.stream();
        CudaStream theirs = other.stream();
        CudaEvent event = device.event();
        CudaEvent theirEvent = other.event()) {
      event.record(ours);
      theirEvent.record(theirs);
      stub.calls();
      String streamOfOther = "the event is of " + NAME + ", the stream is of device 1 (Stub GPU B)";
      assertRefused(() -> event.record(theirs), streamOfOther);
      assertRefused(() -> theirs.waitFor(event), streamOfOther);
      assertRefused(
          () -> event.millisecondsSince(theirEvent),
          "the earlier event is of device 1 (Stub GPU B), this one is of " + NAME);
    }
  }

  private void assertRefused(Runnable call, String message) {
    assertThatThrownBy(call::run).isInstanceOf(IllegalArgumentException.class).hasMessage(message);
    assertThat(stub.calls()).as("the driver is not asked").isEmpty();
  }

  @Test
  void anEventThatWasNotRecordedIsNamed() {
    try (CudaStream stream = device.stream();
        CudaEvent event = device.event();
        CudaEvent recorded = device.event()) {
      recorded.record(stream);
      stub.calls();
      String message = "the event on " + NAME + " was not recorded";
      assertNotReady(event::synchronize, message);
      assertNotReady(() -> stream.waitFor(event), message);
      assertNotReady(() -> event.millisecondsSince(recorded), message);
      assertNotReady(() -> recorded.millisecondsSince(event), message);
    }
  }

  @Test
  void whatIsClosedIsNamed() {
    CudaStream stream = device.stream();
    CudaEvent event = device.event();
    try (CudaEvent open = device.event()) {
      event.record(stream);
      open.record(stream);
      stub.calls();
      event.close();
      event.close();
      assertThat(stub.calls(EntryPoint.EVENT_DESTROY)).hasSize(1);
      String message = "the event on " + NAME + " is closed";
      assertNotReady(event::synchronize, message);
      assertNotReady(() -> event.record(stream), message);
      assertNotReady(() -> stream.waitFor(event), message);
      assertNotReady(() -> event.millisecondsSince(open), message);
      assertNotReady(() -> open.millisecondsSince(event), message);
      stream.close();
      stub.calls();
      String closedStream = "the stream on " + NAME + " is closed";
      assertNotReady(() -> open.record(stream), closedStream);
      assertNotReady(() -> stream.waitFor(open), closedStream);
      open.synchronize(); // the mark is still there
    }
    CudaEvent forgotten = device.event();
    device.close();
    assertThatThrownBy(forgotten::synchronize).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(device::event)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(NAME + " is closed");
  }

  private void assertNotReady(Runnable call, String message) {
    assertThatThrownBy(call::run).isInstanceOf(IllegalStateException.class).hasMessage(message);
    assertThat(stub.calls()).as("the driver is not asked").isEmpty();
  }

  @Test
  void nullIsNamed() {
    try (CudaStream stream = device.stream();
        CudaEvent event = device.event()) {
      assertThatThrownBy(() -> event.record(null)).hasMessage("stream is null");
      assertThatThrownBy(() -> stream.waitFor(null)).hasMessage("event is null");
      assertThatThrownBy(() -> event.millisecondsSince(null)).hasMessage("earlier is null");
    }
  }
}
