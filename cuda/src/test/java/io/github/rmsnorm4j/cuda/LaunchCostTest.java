package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cuda.driver.SharedMemory;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A call whose kernels are there makes no program and no text again. A device waits for the next
 * launch meanwhile. What is allocated is counted, as that does not depend on the machine.
 */
@Tag("measure")
class LaunchCostTest {
  private static final int WIDTH = 256;
  private static final int CALLS = 200;
  private static final long MOST_BYTES = 7 << 10;

  private final NormParts parts =
      NormParts.of(RmsNorm.builder(WIDTH).gain(new float[WIDTH]).build());
  private final DeviceColumn gain =
      DeviceColumn.of(1 << 20, ElementType.FLOAT32, ElementType.FLOAT32, WIDTH, WIDTH);

  private static DeviceRows rows(long address) {
    return new DeviceRows(address, ElementType.FLOAT32, 8, WIDTH, WIDTH);
  }

  @Test
  void aForwardCallTakesTheKernelThatItHas() {
    Map<Tensor, DeviceRows> rows = new TreeMap<>();
    rows.put(Forward.X, rows(1 << 21));
    rows.put(Forward.Y, rows(1 << 22));
    assertThat(
            bytes(
                () ->
                    new ForwardCalls(parts, SharedMemory.LEAST, rows, gain, null, 0, 0, null)
                        .launches()))
        .isLessThan(MOST_BYTES);
  }

  @Test
  void aBackwardCallTakesTheKernelsThatItHas() {
    Map<Tensor, DeviceRows> rows = new TreeMap<>();
    rows.put(Forward.X, rows(1 << 21));
    rows.put(Backward.DY, rows(1 << 22));
    rows.put(Backward.DX, rows(1 << 23));
    BackwardCalls.Gradients gradients = new BackwardCalls.Gradients(gain, null, false, 1 << 24);
    assertThat(
            bytes(
                () ->
                    new BackwardCalls(
                            parts,
                            SharedMemory.LEAST,
                            Keep.INPUT,
                            rows,
                            gain,
                            null,
                            0,
                            1 << 25,
                            gradients)
                        .launches()))
        .isLessThan(2 * MOST_BYTES);
  }

  /** What a call allocates, after the first ones. */
  private static long bytes(Runnable call) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int i = 0; i < CALLS; i++) {
      call.run();
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < CALLS; i++) {
      call.run();
    }
    return (threads.getCurrentThreadAllocatedBytes() - before) / CALLS;
  }
}
