package io.github.rmsnorm4j;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * The calls of a JVM of its own. It prints its resident size in MiB: after a tenth of the calls,
 * and the largest one after that.
 */
final class NativeMemoryUse {
  /** More than the passes that are kept for later calls. */
  static final int CARRIERS = 256;

  /** Where machine code works piece by piece, and wider. */
  private static final int PIECE = 1 << 16;

  private static final int LONG = (1 << 20) + 64;

  /** Passes that a plan keeps for later calls. */
  private static final int PASSES = 64;

  /** What is called again and again. */
  enum Work {
    /** A gain, and then a bias, of the call, in rows of more than 2^20 elements. */
    LONG_GAIN_OF_CALL(600, 0),
    /** Many types in two kinds of memory, forward and backward, by one norm. */
    KINDS_IN_TURN(6000, 0),
    /** Norms, a wide one and many narrow ones, that are made, used once, and forgotten. */
    NORMS_MADE_AND_DROPPED(2500, 0),
    /**
     * Calls of several widths by more threads than there are passes kept. How many passes are made
     * depends on how many threads are in a call at the same moment, so all of them may be made
     * after the first measurement: those with a gain of the call hold it, in float64 at most, in
     * six kinds of calls 2^16 wide and in one that is 2^17 wide. A pass that each call left behind
     * would take more: there are some hundred times as many calls.
     */
    MANY_THREADS(20, PASSES * (6 * PIECE + LONG / 8) * 8L);

    private final int times;
    private final long passBytes;

    /**
     * @param passBytes what passes may take that are made after the first measurement
     */
    Work(int times, long passBytes) {
      this.times = times;
      this.passBytes = passBytes;
    }

    /** What passes may take that are made after the first measurement, in MiB. */
    int passMiB() {
      return Math.toIntExact(passBytes >> 20);
    }
  }

  private NativeMemoryUse() {}

  public static void main(String[] args) {
    Work work = Work.valueOf(args[0]);
    try (Arena arena = Arena.ofShared()) {
      IntConsumer call =
          switch (work) {
            case LONG_GAIN_OF_CALL -> longGainOfCall();
            case KINDS_IN_TURN -> inTurn(kinds(arena, norm(PIECE, Backend.best())));
            case NORMS_MADE_AND_DROPPED -> normsMadeAndDropped();
            case MANY_THREADS -> onManyThreads(arena);
          };
      int tenth = work.times / 10;
      for (int i = 0; i < tenth; i++) {
        call.accept(i);
      }
      long first = residentMiB();
      long most = first;
      for (int i = tenth; i < work.times; i++) {
        call.accept(i);
        most = Math.max(most, i % 10 == 0 ? residentMiB() : 0);
      }
      System.out.println(first + " " + Math.max(most, residentMiB()));
    }
  }

  private static long residentMiB() {
    try {
      return Files.readAllLines(Path.of("/proc/self/status")).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) >> 10)
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static IntConsumer longGainOfCall() {
    RmsNorm rms = RmsNorm.builder(LONG).build();
    LayerNorm layer = LayerNorm.builder(LONG).build();
    float[] x = numbers(LONG);
    float[] gain = numbers(LONG);
    float[] y = new float[LONG];
    return i -> {
      if (i % 2 == 0) {
        rms.withParameters(Rows.of(gain, rms.width()), null).apply(x, y);
      } else {
        layer
            .withParameters(Rows.of(gain, layer.width()), Rows.of(gain, layer.width()))
            .apply(x, y);
      }
    };
  }

  private static IntConsumer normsMadeAndDropped() {
    float[] x = numbers(PIECE);
    float[] gain = numbers(PIECE);
    float[] y = new float[PIECE];
    float[] narrow = numbers(64);
    return i -> {
      RmsNorm.builder(PIECE).gain(gain).build().apply(x, y);
      for (int k = 0; k < 40; k++) {
        LayerNorm.builder(64).gain(narrow).bias(narrow).build().apply(x, 0, y, 0, 1);
      }
      if (i % 50 == 0) {
        System.gc(); // Dropped norms leave their copies to it, which are not many at a time.
      }
    };
  }

  private static IntConsumer inTurn(List<Runnable> calls) {
    return i -> calls.get(i % calls.size()).run();
  }

  /** Each time every call runs on hundreds of threads, which take turns on the carriers. */
  private static IntConsumer onManyThreads(Arena arena) {
    List<Runnable> calls = new ArrayList<>(kinds(arena, norm(PIECE, Backend.best())));
    calls.addAll(kinds(arena, norm(1024, Backend.best())));
    RmsNorm vectors = norm(1024, Backends.VECTORS);
    Rows many = new Block(arena, Place.NATIVE, ElementType.FLOAT32, 128, 1024, 1024).rows;
    calls.add(() -> vectors.apply(many, many));
    RmsNorm given = RmsNorm.builder(LONG / 8).threads(1).build();
    float[] x = numbers(LONG / 8);
    float[] y = new float[LONG / 8];
    calls.add(() -> given.withParameters(Rows.of(x.clone(), given.width()), null).apply(x, y));
    return time -> {
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 2 * CARRIERS; t++) {
        int from = t;
        threads.add(
            Thread.startVirtualThread(
                () -> {
                  for (int i = 0; i < 4; i++) {
                    calls.get((from + i) % calls.size()).run();
                  }
                }));
      }
      for (Thread thread : threads) {
        join(thread);
      }
    };
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static RmsNorm norm(int width, Backend backend) {
    return RmsNorm.builder(width).gain(numbers(width)).backend(backend).threads(1).build();
  }

  /** Eighteen of them: two passes forward and one backward, of three types in two places. */
  private static List<Runnable> kinds(Arena arena, RmsNorm norm) {
    List<Runnable> kinds = new ArrayList<>();
    int width = norm.width();
    int rows = Math.max(1, (1 << 16) / width);
    for (Place place : List.of(Place.ARRAY, Place.NATIVE)) {
      for (ElementType type :
          List.of(ElementType.FLOAT32, ElementType.FLOAT16, ElementType.BFLOAT16)) {
        Rows x = new Block(arena, place, type, rows, width, width).rows;
        Rows y = new Block(arena, place, type, rows, width, width).rows;
        Rows gain = new Block(arena, place, type, 1, width, width).rows;
        Saved saved = new Saved(Keep.INPUT, rows);
        norm.apply(x, y, saved);
        ParameterGradients gradients = ParameterGradients.assigned(new float[width], null);
        kinds.add(() -> norm.apply(x, y));
        kinds.add(() -> norm.withParameters(gain, null).apply(x, y));
        kinds.add(() -> norm.backward(x, saved, y, gradients));
      }
    }
    return kinds;
  }

  private static float[] numbers(int n) {
    float[] numbers = new float[n];
    Arrays.fill(numbers, 1.5f);
    return numbers;
  }
}
