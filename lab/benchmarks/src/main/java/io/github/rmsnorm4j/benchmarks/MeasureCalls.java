package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.measure.Interleaved;
import io.github.rmsnorm4j.measure.Samples;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Measures kinds of calls against plain calls, on one thread: sixteen kinds in turn, and backward
 * passes with a gain of samples or groups. Times are processor time of the thread.
 */
public final class MeasureCalls {
  private final boolean quick;
  private final List<String> missed = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(1);

  private MeasureCalls(boolean quick) {
    this.quick = quick;
  }

  /**
   * Prints a line for each kind of call, and for each goal that is missed. Then it ends with status
   * 1 if {@code check} is an argument.
   *
   * @param args any of {@code quick} and {@code check}
   */
  public static void main(String[] args) {
    List<String> given = List.of(args);
    System.out.printf(
        "%-58s %13s %13s %7s%n", "one thread, processor time", "plain", "call", "ratio");
    MeasureCalls calls = new MeasureCalls(given.contains("quick"));
    calls.kinds();
    calls.samples(256, 1, 1152, 2.2);
    calls.samples(128, 4, 1152, Double.NaN);
    calls.samples(64, 16, 1152, Double.NaN);
    calls.samples(32, 32, 1152, 1.15);
    calls.samples(32, 256, 1152, 1.15);
    calls.groups(1024, 8, 512, 1.15);
    calls.groups(256, 32, 128, 1.15);
    calls.missed.forEach(System.out::println);
    System.exit(given.contains("check") && !calls.missed.isEmpty() ? 1 : 0);
  }

  private List<Samples> measure(List<Runnable> calls) {
    return new Interleaved(
            quick ? Effort.QUICK : Effort.FULL,
            ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime)
        .measure(calls.stream().map(List::of).toList());
  }

  private void print(String title, double plain, double nanos, double goal) {
    double ratio = nanos / plain;
    System.out.printf(
        Locale.ROOT, "%-58s %10.1f µs %10.1f µs %7.2f%n", title, plain / 1e3, nanos / 1e3, ratio);
    if (ratio > goal) {
      missed.add(
          String.format(Locale.ROOT, "missed: %s is %.2f, the goal is %s", title, ratio, goal));
    }
  }

  /** Each type in and out on one norm: the sum of the times of each alone, and of all in turn. */
  private void kinds() {
    int width = 64;
    Norm norm = RmsNorm.builder(width).threads(1).build();
    List<Runnable> kinds = new ArrayList<>();
    for (ElementType in : ElementType.values()) {
      for (ElementType out : ElementType.values()) {
        Rows x = Rows.of(Arena.global().allocate(in.bytes() * width, 64), in, 1, width);
        Rows y = Rows.of(Arena.global().allocate(out.bytes() * width, 64), out, 1, width);
        kinds.add(() -> norm.apply(x, y));
      }
    }
    List<Runnable> all = new ArrayList<>(kinds);
    all.add(() -> kinds.forEach(Runnable::run));
    List<Samples> times = measure(all);
    double alone = times.subList(0, kinds.size()).stream().mapToDouble(Samples::median).sum();
    print(kinds.size() + " kinds of 1 x 64 in turn", alone, times.getLast().median(), 1.2);
  }

  /** A gain for all rows, and one for each sample. */
  private void samples(int samples, int rowsOfSample, int width, double goal) {
    int rows = samples * rowsOfSample;
    float[] x = random(rows * width);
    float[] dy = random(rows * width);
    float[] gains = random(samples * width);
    Norm norm = RmsNorm.builder(width).threads(1).build();
    Rows first = Rows.of(gains, 0, 1, width);
    Pass one = new Pass(norm.withParameters(first, null), x, dy, width);
    Pass each = new Pass(norm.withParameters(Rows.of(gains, width), null), x, dy, samples * width);
    Pass alone =
        new Pass(
            norm.withParameters(first, null),
            Arrays.copyOf(x, rowsOfSample * width),
            Arrays.copyOf(dy, rowsOfSample * width),
            width);
    each.run();
    alone.run();
    require(alone.gradient, each.gradient);
    require(alone.dx, each.dx);
    compare(samples + " samples of " + rowsOfSample + " x " + width, one, each, goal);
  }

  /** Groups with a gain of the whole row, against whole rows and against groups that share one. */
  private void groups(int rows, int groups, int width, double goal) {
    float[] x = random(rows * groups * width);
    float[] dy = random(x.length);
    float[] gain = random(width);
    float[] repeated = new float[groups * width];
    for (int i = 0; i < repeated.length; i++) {
      repeated[i] = gain[i % width];
    }
    RmsNorm.Builder builder = RmsNorm.builder(groups * width).threads(1);
    Pass whole = new Pass(builder.gain(repeated).build(), x, dy, groups * width);
    Pass own = new Pass(builder.groupCount(groups).build(), x, dy, groups * width);
    Pass shared = new Pass(builder.gain(gain).build(), x, dy, width);
    shared.run();
    own.run();
    require(shared.dx, own.dx);
    String title = rows + " rows of " + groups + " groups of " + width;
    compare(title, whole, own, goal);
    compare(title + ", shared gain", shared, own, Double.NaN);
  }

  private void compare(String title, Pass plain, Pass other, double goal) {
    List<Samples> times = measure(List.of(plain::run, other::run));
    double nanos = times.getLast().median();
    print(title + ", backward", times.getFirst().median(), nanos, goal);
  }

  private float[] random(int n) {
    float[] numbers = new float[n];
    for (int i = 0; i < n; i++) {
      numbers[i] = (float) random.nextDouble(-1, 1);
    }
    return numbers;
  }

  /** Both begin with the same bits. */
  private static void require(float[] wanted, float[] found) {
    int at = Arrays.mismatch(wanted, 0, wanted.length, found, 0, wanted.length);
    if (at >= 0) {
      throw new AssertionError("element " + at + " is " + found[at] + ", not " + wanted[at]);
    }
  }

  /** A backward pass that is ready to run. */
  private static final class Pass {
    private final Norm norm;
    private final Rows dy;
    private final Saved saved;
    private final float[] dx;
    private final float[] gradient;
    private final Rows into;
    private final ParameterGradients gradients;

    Pass(Norm norm, float[] x, float[] dy, int parameters) {
      this.norm = norm;
      int width = norm.width();
      this.dy = Rows.of(dy, width);
      dx = new float[x.length];
      into = Rows.of(dx, width);
      gradient = new float[parameters];
      gradients = ParameterGradients.assigned(gradient, null);
      saved = new Saved(Keep.INPUT, x.length / width);
      norm.apply(Rows.of(x, width), Rows.of(new float[x.length], width), saved);
    }

    void run() {
      norm.backward(dy, saved, into, gradients);
    }
  }
}
