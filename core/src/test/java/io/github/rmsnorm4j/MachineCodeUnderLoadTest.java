package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Machine code on arrays and native memory while every garbage collector moves what it can, threads
 * are interrupted, and norms are made and forgotten: no crash, and no other bits.
 */
@Timeout(120)
class MachineCodeUnderLoadTest {
  private static final long SECONDS = Long.getLong("rmsnorm4j.loadSeconds", 2);

  @ParameterizedTest
  @ValueSource(strings = {"Serial", "Parallel", "G1", "Z", "Shenandoah"})
  void noCollectorDisturbsIt(String collector) throws Exception {
    assumeThat(Backends.machineCode()).isNotEmpty();
    List<String> flags =
        ChildJvm.flags(
            "-XX:+Use" + collector + "GC",
            "-Xmx256m",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=/dev/null");
    assertThat(ChildJvm.output(flags, Load.class, Long.toString(SECONDS)))
        .contains("calls, all with the bits of plain Java");
  }

  /** Threads that normalise, and one that makes garbage and interrupts them. */
  static final class Load {
    private static final int[] WIDTHS = {64, 100, 1024, 4099};
    private static final int ROWS = 37;

    private static volatile Object garbage;

    private Load() {}

    public static void main(String[] args) throws InterruptedException {
      long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
      AtomicLong calls = new AtomicLong();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        int seed = i;
        Runnable work = () -> normalise(seed, end, calls);
        Thread thread =
            i % 2 == 0 ? Thread.ofPlatform().unstarted(work) : Thread.ofVirtual().unstarted(work);
        thread.setUncaughtExceptionHandler((t, e) -> failure.compareAndSet(null, e));
        threads.add(thread);
        thread.start();
      }
      while (System.nanoTime() < end) {
        garbage = new byte[100_000];
        threads.get((int) (System.nanoTime() & 3)).interrupt();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      if (failure.get() != null) {
        throw new AssertionError(failure.get());
      }
      System.out.println(calls + " calls, all with the bits of plain Java");
    }

    private static void normalise(int seed, long end, AtomicLong calls) {
      SplittableRandom random = new SplittableRandom(seed);
      while (System.nanoTime() < end) {
        int width = WIDTHS[random.nextInt(WIDTHS.length)];
        float[] x = new float[ROWS * width];
        float[] gain = new float[width];
        for (int i = 0; i < x.length; i++) {
          x[i] = (float) random.nextDouble(-3, 3);
          gain[i % width] = x[i];
        }
        float[] wanted = new float[x.length];
        norm(width, gain, Backend.scalar()).apply(x, wanted);
        for (Backend backend : Backends.machineCode()) {
          RmsNorm norm = norm(width, gain, backend);
          for (int k = 0; k < 20; k++) {
            float[] y = new float[x.length];
            norm.apply(x, y);
            require(MemorySegment.ofArray(y), wanted);
            calls.incrementAndGet();
          }
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment in = arena.allocateFrom(ValueLayout.JAVA_FLOAT, x);
            norm.apply(
                Rows.of(in, ElementType.FLOAT32, ROWS, width),
                Rows.of(in, ElementType.FLOAT32, ROWS, width));
            require(in, wanted);
          }
        }
      }
    }

    private static RmsNorm norm(int width, float[] gain, Backend backend) {
      return RmsNorm.builder(width).gain(gain).threads(2).backend(backend).build();
    }

    private static void require(MemorySegment y, float[] wanted) {
      long at = y.mismatch(MemorySegment.ofArray(wanted));
      if (at >= 0) {
        throw new AssertionError("byte " + at + " differs");
      }
    }
  }
}
