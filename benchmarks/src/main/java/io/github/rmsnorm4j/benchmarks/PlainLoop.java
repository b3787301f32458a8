package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.measure.ChildJvm;
import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.measure.Interleaved;
import io.github.rmsnorm4j.measure.Machine;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * How fast the library is compared with the loop that it replaces: warm, on one thread, in
 * processor time. Prints a table of a JVM without flags and of one with {@code
 * --enable-native-access}. Start it without flags.
 */
public final class PlainLoop {
  private static final int WIDTH = 4096;
  private static final float EPSILON = 1e-6f;

  private PlainLoop() {}

  /**
   * Measures.
   *
   * @param args none; {@code --quick} for figures that mean little
   * @throws IOException if a JVM fails
   */
  public static void main(String[] args) throws IOException {
    if (args.length > 1) {
      measure(args);
      return;
    }
    System.out.println(Machine.processor());
    System.out.println("| rows | the loop, µs | the library without flags | with the flag |");
    System.out.println("| --- | ---: | ---: | ---: |");
    for (ElementType type : List.of(ElementType.FLOAT32, ElementType.BFLOAT16)) {
      for (int rows : new int[] {1, 128}) {
        List<String> work = List.of(type.name(), "" + rows, "" + (args.length == 1));
        double[] plain = inFreshJvm(List.of(), work);
        double[] flag = inFreshJvm(List.of("--enable-native-access=ALL-UNNAMED"), work);
        System.out.printf(
            Locale.ROOT,
            "| %s %s x %s | %.1f | %.1f µs, %.2f times as fast | %.1f µs, %.1f times as fast |%n",
            type,
            rows,
            WIDTH,
            plain[0] / 1e3,
            plain[1] / 1e3,
            plain[0] / plain[1],
            flag[1] / 1e3,
            flag[0] / flag[1]);
      }
    }
  }

  /** Nanoseconds of a call of the loop, and of the library. */
  private static double[] inFreshJvm(List<String> flags, List<String> work) throws IOException {
    String[] times = ChildJvm.call(PlainLoop.class, flags, work).split(" ");
    return new double[] {Double.parseDouble(times[0]), Double.parseDouble(times[1])};
  }

  private static void measure(String[] args) throws IOException {
    ElementType type = ElementType.valueOf(args[1]);
    int rows = Integer.parseInt(args[2]);
    Random random = new Random(1);
    MemorySegment x = Memory.array(type, rows * WIDTH);
    MemorySegment loop = Memory.array(type, rows * WIDTH);
    MemorySegment library = Memory.array(type, rows * WIDTH);
    float[] gain = new float[WIDTH];
    for (int i = 0; i < rows * WIDTH; i++) {
      type.set(x, i, ElementType.BFLOAT16.round(random.nextGaussian()));
      gain[i % WIDTH] = 1 + i % 7 * 0.125f;
    }
    RmsNorm norm = RmsNorm.builder(WIDTH).epsilon(EPSILON).gain(gain).threads(1).build();
    Rows in = Rows.of(x, type, rows, WIDTH);
    Rows out = Rows.of(library, type, rows, WIDTH);
    Times times =
        Times.measure(
            List.of(() -> norm.apply(in, out)),
            List.of(loop(x.heapBase().get(), gain, loop.heapBase().get())),
            new Interleaved(
                Boolean.parseBoolean(args[3]) ? Effort.QUICK : Effort.FULL,
                ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime));
    double relative = type == ElementType.FLOAT32 ? 1e-5 : 0x1p-7;
    for (int i = 0; i < rows * WIDTH; i++) {
      requireNear(type.get(loop, i), type.get(library, i), relative);
    }
    Files.writeString(Path.of(args[0]), times.baselineNanos() + " " + times.subjectNanos());
  }

  private static void requireNear(double loop, double library, double relative) {
    if (!(Math.abs(loop - library) <= relative * Math.abs(loop) + 1e-6)) {
      throw new IllegalStateException("the loop gives " + loop + ", the library " + library);
    }
  }

  private static Runnable loop(Object x, float[] gain, Object y) {
    return x instanceof float[] floats
        ? () -> loop(floats, gain, (float[]) y)
        : () -> loop((short[]) x, gain, (short[]) y);
  }

  /** As ports of llama2.c have it, row by row. */
  private static void loop(float[] x, float[] gain, float[] y) {
    for (int at = 0; at < x.length; at += WIDTH) {
      float ss = 0;
      for (int j = 0; j < WIDTH; j++) {
        ss += x[at + j] * x[at + j];
      }
      ss = 1 / (float) Math.sqrt(ss / WIDTH + EPSILON);
      for (int j = 0; j < WIDTH; j++) {
        y[at + j] = gain[j] * (ss * x[at + j]);
      }
    }
  }

  /** The loop for bfloat16: elements are widened and rounded one by one. */
  private static void loop(short[] x, float[] gain, short[] y) {
    for (int at = 0; at < x.length; at += WIDTH) {
      float ss = 0;
      for (int j = 0; j < WIDTH; j++) {
        float v = bfloat16(x[at + j]);
        ss += v * v;
      }
      ss = 1 / (float) Math.sqrt(ss / WIDTH + EPSILON);
      for (int j = 0; j < WIDTH; j++) {
        int bits = Float.floatToRawIntBits(gain[j] * (ss * bfloat16(x[at + j])));
        y[at + j] = (short) ((bits + 0x7fff + (bits >>> 16 & 1)) >>> 16);
      }
    }
  }

  private static float bfloat16(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }
}
