package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Calls so large that a program makes few of them. Each in a JVM of its own, where nothing else has
 * had its kernels compiled.
 */
final class LargeCallAllocation {
  /** In place of a type: {@link #wideRowsOnManyThreads}. */
  static final String WIDE = "wide";

  /** Rows longer than a super-block. */
  static final String LONG = "long";

  private static final int WARM_UP_CALLS = 60;
  private static final int COUNTED_CALLS = 5;

  private LargeCallAllocation() {}

  /**
   * Prints what allocates too much, and that it is done.
   *
   * @param args {@value #WIDE}, {@value #LONG}, or the type of rows
   */
  public static void main(String[] args) {
    if (args[0].equals(WIDE)) {
      wideRowsOnManyThreads();
    } else if (args[0].equals(LONG)) {
      manyRows(ElementType.FLOAT32, 32, 300_000);
    } else {
      manyRows(ElementType.ofName(args[0]), 8192, 4096);
    }
    System.out.println(AllocationCount.COUNTED + args[0]);
  }

  /**
   * One call has thousands of chunks, but only one first and one last: kernels that are for those
   * alone are not compiled in the few calls that there are.
   */
  private static void manyRows(ElementType type, int rows, int width) {
    float[] gain = new float[width];
    Arrays.fill(gain, 1.5f);
    RmsNorm norm = RmsNorm.builder(width).gain(gain).threads(1).build();
    try (Arena arena = Arena.ofConfined()) {
      Block x = new Block(arena, Place.NATIVE, type, rows, width, width);
      Block y = new Block(arena, Place.NATIVE, type, rows, width, width);
      x.put(0, new RandomRows(new SplittableRandom(1)).scaled(type, width, 1, 0));
      MemorySegment all = x.rows.segment();
      for (long done = all.byteSize() / rows; done < all.byteSize(); done += done) {
        MemorySegment.copy(all, 0, all, done, done);
      }
      Runnable call = () -> norm.apply(x.rows, y.rows);
      int calls = 1;
      while (calls < WARM_UP_CALLS && bytes(call, false) > CountedCall.FEW_BYTES) {
        calls++;
      }
      long fewest = Long.MAX_VALUE;
      for (int i = 0; i < COUNTED_CALLS; i++) {
        fewest = Math.min(fewest, bytes(call, false));
      }
      report(fewest, CountedCall.FEW_BYTES, norm + ", " + rows + " rows of native " + type);
    }
  }

  /**
   * Sums of two parameters in rows of 2^17 elements and one, which share arrays with rows of 2^18,
   * on eight threads: 33 blocks of rows, of which each could be a sub-tree. What they allocate may
   * be whatever wide rows do: an array for sums alone has a MiB.
   */
  private static void wideRowsOnManyThreads() {
    int width = (1 << 17) + 1;
    int rows = 33 * 32;
    RmsNorm norm = RmsNorm.builder(width).threads(8).build();
    try (Arena arena = Arena.ofShared()) {
      long bytes = 2L * rows * width;
      Rows x = Rows.of(arena.allocate(bytes), ElementType.BFLOAT16, rows, width, width);
      Rows dx = Rows.of(arena.allocate(bytes), ElementType.BFLOAT16, rows, width, width);
      Saved saved = new Saved(Keep.INPUT, rows);
      norm.apply(x, dx, saved);
      ParameterGradients gradients =
          ParameterGradients.assigned(new float[width], new float[width]);
      long fewest = Long.MAX_VALUE;
      for (int call = 0; call < 25 && fewest > 1 << 20; call++) {
        fewest = Math.min(fewest, bytes(() -> norm.backward(x, saved, dx, gradients), true));
      }
      report(fewest, 1 << 20, norm + ", " + rows + " rows, 8 threads");
    }
  }

  private static long bytes(Runnable call, boolean severalThreads) {
    long before = CountedCall.allocatedBytes(severalThreads);
    call.run();
    return CountedCall.allocatedBytes(severalThreads) - before;
  }

  private static void report(long bytes, long allowed, String call) {
    if (bytes > allowed) {
      System.out.println(
          AllocationCount.OVER + bytes + " bytes a call, allowed " + allowed + ": " + call);
    }
  }
}
