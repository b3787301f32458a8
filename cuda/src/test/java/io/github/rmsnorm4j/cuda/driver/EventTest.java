package io.github.rmsnorm4j.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.cuda.CudaVersion;
import org.junit.jupiter.api.Test;

class EventTest {
  @Test
  void theTimeBetweenTwoEventsOfAStream() throws DriverUnavailable {
    StubDriver stub = StubDriver.fresh();
    stub.devices(2);
    DriverLibrary library = DriverLibrary.load(stub.library(), new CudaVersion(11, 0));
    CudaContext context = new CudaContext(library, 0, "device 0 (GPU)");
    CudaContext other = new CudaContext(library, 1, "device 1 (GPU)");
    Stream stream = Stream.create(context);
    Event from = new Event(context);
    try (Event to = new Event(context)) {
      assertThatThrownBy(() -> to.millisecondsSince(from))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the event on device 0 (GPU) was not recorded");
      from.record(stream);
      to.record(stream);
      assertThat(to.millisecondsSince(from)).isEqualTo(1.5); // as the stub counts

      to.record(Stream.create(context));
      assertThatThrownBy(() -> to.millisecondsSince(from))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the earlier event is on another stream of device 0 (GPU)");
      Stream theirs = Stream.create(other);
      assertThatThrownBy(() -> to.record(theirs))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the event is of device 0 (GPU), the stream is of device 1 (GPU)");
      from.close();
      assertThatThrownBy(() -> to.millisecondsSince(from))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the event on device 0 (GPU) is closed");
      assertThatThrownBy(() -> from.record(stream)).isInstanceOf(IllegalStateException.class);
    }
    context.close();
    other.close();
    assertThat(stub.leaks()).isEmpty();
  }
}
