package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Once compiled, a call allocates as much for many rows as for one, and as much for wide ones as
 * for narrow ones. A vector that the JIT puts in a box, 8 to 190 times slower than one that it does
 * not, shows here and nowhere else.
 */
class AllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Rows and width: one chunk, several chunks, wide rows, and rows longer than a super-block. */
  private static final int[][] SHAPES = {{1, 64}, {200, 64}, {3, 300}, {20, 1000}, {2, 70_000}};

  /**
   * The same for two threads: enough for both to pay, in many blocks of rows, in few and in one.
   */
  private static final int[][] SHAPES_OF_TWO = {{3000, 64}, {400, 1000}, {40, 5000}, {3, 70_000}};

  /** What a forward call may allocate: a few small objects, whatever the shape. */
  private static final long FEW_BYTES = 512;

  /** A backward call has more of them; and once more for each run of rows that threads claim. */
  private static final long BACKWARD_BYTES = 2 * FEW_BYTES;

  private static final int RUNS_OF_TWO = 16;

  /**
   * Norms by their number's bits: LayerNorm, gain, bias; and as many further on the same with
   * something else done.
   */
  private static final int NORMS = 8;

  private static final List<String> DONE =
      List.of(
          "",
          ", added to a residual",
          ", backward",
          ", backward into float64",
          ", backward on two threads");

  private static final int ADD = 1;
  private static final int BACKWARD = 2;
  private static final int INTO_FLOAT64 = 3;
  private static final int ON_TWO_THREADS = 4;

  private static final int[] CHOICES = {
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    ADD * NORMS + 2,
    ADD * NORMS + 7,
    BACKWARD * NORMS + 2,
    BACKWARD * NORMS + 7,
    INTO_FLOAT64 * NORMS + 2,
    INTO_FLOAT64 * NORMS + 7,
    ON_TWO_THREADS * NORMS + 2,
    ON_TWO_THREADS * NORMS + 7
  };

  /** In place of a vector width: {@link #wideRowsOnManyThreads}. */
  private static final int WIDE = -1;

  private static final long PATIENCE_NANOS = 10_000_000_000L;

  /**
   * In JVMs of their own, three at most: what the JIT makes of the same code differs from run to
   * run with what it had counted when it came to it (docs/kernels.md). A kernel that is too much
   * for it boxes its vectors in every JVM.
   */
  @ParameterizedTest
  @MethodSource("usableVectorBits")
  void growsNeitherWithRowsNorWithWidth(int bits) throws Exception {
    List<String> growing = List.of("not run");
    for (int jvm = 0; jvm < 3 && !growing.isEmpty(); jvm++) {
      growing = inJvmOfItsOwn(bits);
    }
    assertThat(growing).isEmpty();
  }

  static Stream<Integer> usableVectorBits() {
    return Stream.of(0, 128, 256, 512).filter(bits -> bits <= Backend.best().vectorBits());
  }

  /**
   * Sums of two parameters in rows of 2^17 elements and one, which share arrays with rows of 2^18,
   * on eight threads: 33 blocks of rows, of which each could be a sub-tree.
   */
  @Test
  void wideRowsOnManyThreadsFitInWhatIsKept() throws Exception {
    assertThat(inJvmOfItsOwn(WIDE)).isEmpty();
  }

  /** As much as whatever wide rows there are: an array for sums alone has a MiB. */
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
        long before = allocatedBytes(true);
        norm.backward(x, saved, dx, gradients);
        fewest = Math.min(fewest, allocatedBytes(true) - before);
      }
      if (fewest > 1 << 20) {
        System.out.println(norm + ", " + rows + " rows, 8 threads: " + fewest + " bytes a call");
      }
    }
  }

  private static List<String> inJvmOfItsOwn(int bits) throws Exception {
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                AllocationTest.class.getName(),
                Integer.toString(bits))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    List<String> lines = new String(child.getInputStream().readAllBytes()).lines().toList();
    assertThat(child.waitFor()).as("%s", lines).isZero();
    assertThat(lines).last().isEqualTo("done");
    return lines.subList(0, lines.size() - 1);
  }

  /** Prints the calls whose allocations grow at a vector width, then that it is done. */
  public static void main(String[] args) {
    int bits = Integer.parseInt(args[0]);
    if (bits == WIDE) {
      wideRowsOnManyThreads();
    } else {
      ofManyShapes(bits);
    }
    System.out.println("done");
  }

  private static void ofManyShapes(int bits) {
    Backend backend = bits == 0 ? Backend.scalar() : Backend.vector(bits);
    // Once for the JIT to see every kind of call, and once more with all that it has learned.
    growing(backend);
    growing(backend).forEach(System.out::println);
  }

  /** The first few calls whose allocations grow. */
  private static List<String> growing(Backend backend) {
    List<String> growing = new ArrayList<>();
    for (ElementType type : ElementType.values()) {
      for (Place place : new Place[] {Place.ARRAY, Place.NATIVE}) {
        for (int choice : CHOICES) {
          int done = choice / NORMS;
          for (int[] shape : done == ON_TWO_THREADS ? SHAPES_OF_TWO : SHAPES) {
            long bytes = bytesPerCall(backend, type, place, choice, shape[0], shape[1]);
            if (bytes > allowed(done)) {
              String norm = norm(backend, choice, shape[1]) + " of " + type + " in " + place;
              growing.add(
                  norm + DONE.get(done) + ", " + shape[0] + " rows: " + bytes + " bytes a call");
            }
            if (growing.size() == 3) {
              return growing;
            }
          }
        }
      }
    }
    return growing;
  }

  private static long allowed(int done) {
    long backward = done == ON_TWO_THREADS ? RUNS_OF_TWO * BACKWARD_BYTES : BACKWARD_BYTES;
    return done < BACKWARD ? FEW_BYTES : backward;
  }

  /** The fewest seen, waiting for the JIT as long as they are too many. */
  private static long bytesPerCall(
      Backend backend, ElementType type, Place place, int choice, int rows, int width) {
    Norm norm = norm(backend, choice, width);
    int done = choice / NORMS;
    boolean two = done == ON_TWO_THREADS;
    try (Arena arena = two ? Arena.ofShared() : Arena.ofConfined()) {
      Block x = new Block(arena, place, type, rows, width, width);
      Block y = new Block(arena, place, type, rows, width, width);
      RandomRows source = new RandomRows(new SplittableRandom(1));
      for (int r = 0; r < rows; r++) {
        x.put(r, source.scaled(type, width, 1, 0));
      }
      Block z = new Block(arena, place, type, rows, width, width);
      Saved saved = new Saved(Keep.INPUT, rows);
      norm.apply(x.rows, z.rows, saved);
      ParameterGradients gradients =
          done == INTO_FLOAT64
              ? ParameterGradients.added(new double[width], new double[width])
              : ParameterGradients.added(new float[width], new float[width]);
      Runnable call =
          switch (done) {
            case 0 -> () -> norm.apply(x.rows, y.rows);
            case ADD -> () -> norm.addAndApply(x.rows, z.rows, y.rows);
            default -> () -> norm.backward(z.rows, saved, y.rows, gradients);
          };
      long fewest = Long.MAX_VALUE;
      long start = System.nanoTime();
      int calls = Math.max(5, 100_000 / (rows * width));
      while (fewest > allowed(done) && System.nanoTime() - start < PATIENCE_NANOS) {
        long before = allocatedBytes(two);
        for (int i = 0; i < calls; i++) {
          call.run();
        }
        long after = allocatedBytes(two);
        fewest = Math.min(fewest, (after - before) / calls);
      }
      return fewest;
    }
  }

  /** By this thread, or by all of them: helpers allocate too. */
  private static long allocatedBytes(boolean all) {
    return all ? THREADS.getTotalThreadAllocatedBytes() : THREADS.getCurrentThreadAllocatedBytes();
  }

  private static Norm norm(Backend backend, int choice, int width) {
    boolean centred = (choice & 1) != 0;
    Norm.Builder<?> builder = centred ? LayerNorm.builder(width) : RmsNorm.builder(width);
    builder.backend(backend).threads(choice / NORMS == ON_TWO_THREADS ? 2 : 1);
    if ((choice & 2) != 0) {
      builder.gain(new float[width]);
    }
    if ((choice & 4) != 0) {
      builder.bias(new float[width]);
    }
    return centred ? ((LayerNorm.Builder) builder).build() : ((RmsNorm.Builder) builder).build();
  }
}
