package io.github.rmsnorm4j.internal.first;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.rmsnorm4j.LayerNorm;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LanesTest {
  private static final int CALLS = 1000;

  /** Threads whose memory has the same place find it again, call after call. */
  @Test
  @Tag("measure")
  void threadsOfOnePlaceAllocateOnce() throws Exception {
    LayerNorm norm = LayerNorm.builder(4096).threads(1).build();
    CyclicBarrier turn = new CyclicBarrier(4);
    long[] bytes = new long[4];
    List<Thread> threads = new ArrayList<>();
    long home = -1;
    while (threads.size() < bytes.length) {
      int i = threads.size();
      Thread thread = new Thread(() -> bytes[i] = run(norm, turn));
      home = home < 0 ? thread.threadId() % 64 : home;
      if (thread.threadId() % 64 == home) {
        threads.add(thread);
      }
    }
    for (Thread thread : threads) {
      thread.setDaemon(true);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    // Memory made anew would be 16 KiB a call.
    assertThat(Arrays.stream(bytes).max().orElseThrow()).isLessThan(CALLS * 1024L);
    assertThat(Arrays.stream(bytes).min().orElseThrow()).isNotNegative();
  }

  private static long run(LayerNorm norm, CyclicBarrier turn) {
    ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().threadId();
    float[] x = new float[4096 + 5];
    try {
      norm.apply(x, 5, x, 5, 1);
      long before = bean.getThreadAllocatedBytes(thread);
      for (int call = 0; call < CALLS; call++) {
        turn.await();
        norm.apply(x, 5, x, 5, 1);
      }
      return bean.getThreadAllocatedBytes(thread) - before;
    } catch (Exception e) {
      turn.reset(); // Or the others would wait for this thread.
      throw new IllegalStateException(e);
    }
  }
}
