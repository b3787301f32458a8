package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Machine code on arrays and native memory while every garbage collector moves what it can, threads
 * are interrupted, and norms are made and forgotten: no crash, and no other bits.
 */
class MachineCodeUnderLoadTest {
  private static final long SECONDS =
      Long.getLong("rmsnorm4j.loadSeconds", Backends.ALL_DRAWS ? 2 : 1);

  @ParameterizedTest
  @ValueSource(strings = {"Serial", "Parallel", "G1", "Z", "Shenandoah"})
  void noCollectorDisturbsIt(String collector) throws Exception {
    assumeThat(Backends.machineCode()).as("there is no machine code here").isNotEmpty();
    List<String> flags =
        ChildJvm.flags(
            "-XX:+Use" + collector + "GC",
            "-Xmx256m",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=/dev/null");
    assertThat(ChildJvm.output(flags, Load.class, Long.toString(SECONDS)))
        .containsPattern("(?m)^[1-9]\\d* calls, all with the bits of plain Java");
  }

  /** Threads that normalise, and one that makes garbage and interrupts them. */
  static final class Load {
    private static final int[] WIDTHS = {64, 100, 1024, 4099, 70_000};

    /** Wider rows come alone. */
    private static final int LONG = 10_000;

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
      do {
        int width = WIDTHS[random.nextInt(WIDTHS.length)];
        int part = random.nextInt(3) == 0 ? 1 + random.nextInt(width) : width;
        ElementType type = random.nextInt(3) == 0 ? ElementType.FLOAT64 : ElementType.FLOAT32;
        int rows = width > LONG ? 1 : ROWS;
        double[] x = random.doubles((long) rows * width, -3, 3).toArray();
        double[][] wanted = results(norm(width, part, x, Backend.scalar()), array(type, x), rows);
        for (Backend backend : Backends.machineCode()) {
          Norm norm = norm(width, part, x, backend);
          int k = 0;
          do {
            require(results(norm, array(type, x), rows), wanted);
            calls.incrementAndGet();
          } while (++k < 20 && System.nanoTime() < end);
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment in = arena.allocate((long) x.length * type.bytes(), Double.BYTES);
            in.copyFrom(array(type, x));
            require(results(norm, in, rows), wanted);
          }
        }
      } while (System.nanoTime() < end);
    }

    private static MemorySegment array(ElementType type, double[] numbers) {
      boolean float64 = type == ElementType.FLOAT64;
      MemorySegment array =
          float64
              ? MemorySegment.ofArray(new double[numbers.length])
              : MemorySegment.ofArray(new float[numbers.length]);
      for (int i = 0; i < numbers.length; i++) {
        type.set(array, i, numbers[i]);
      }
      return array;
    }

    private static Norm norm(int width, int part, double[] gain, Backend backend) {
      return RmsNorm.builder(width)
          .part(part)
          .gain(Arrays.copyOf(gain, width))
          .threads(2)
          .backend(backend)
          .build();
    }

    /** The output in place, the gradient of the input, and that of the gain. */
    private static double[][] results(Norm norm, MemorySegment memory, int rows) {
      int n = rows * norm.width();
      ElementType type = memory.byteSize() == 8L * n ? ElementType.FLOAT64 : ElementType.FLOAT32;
      Rows x = Rows.of(memory, type, rows, norm.width());
      Saved saved = new Saved(Keep.INPUT, rows);
      Rows y = Rows.of(array(type, new double[n]), type, rows, norm.width());
      Rows dx = Rows.of(array(type, new double[n]), type, rows, norm.width());
      double[] dgain = new double[norm.width()];
      norm.apply(x, y, saved);
      norm.backward(y, saved, dx, ParameterGradients.assigned(dgain, null));
      norm.apply(x, x);
      double[][] results = {new double[n], new double[n], dgain};
      for (int i = 0; i < n; i++) {
        results[0][i] = type.get(memory, i);
        results[1][i] = type.get(dx.segment(), i);
      }
      return results;
    }

    private static void require(double[][] results, double[][] wanted) {
      for (int k = 0; k < wanted.length; k++) {
        int at = Arrays.mismatch(results[k], wanted[k]);
        if (at >= 0) {
          throw new AssertionError("number " + at + " of result " + k + " differs");
        }
      }
    }
  }
}
