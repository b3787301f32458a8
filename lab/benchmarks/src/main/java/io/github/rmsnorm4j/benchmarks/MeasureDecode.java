package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.RmsNorm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The norms of a decoding engine in a fresh JVM: each token calls some norms one after the other,
 * and before each call much other memory is read, as the matrices of a model are. So caches are
 * cold, and nothing is compiled at first. It does the same with the plain loop of a port.
 */
public final class MeasureDecode {
  private static final double EPSILON = 1e-5;

  /** Elements of offset, where there is one. */
  private static final int OFFSET = 5;

  /** Kept, so that the JIT does not leave out what is read. */
  private static float read;

  private final Kind kind;
  private final Competitor subject;
  private final int width;
  private final int rows;
  private final int offset;
  private final float[] other;
  private final float[] x;
  private final float[] y;
  private final float[] residual;
  private final float[][] gains;
  private final float[][] biases;
  private final Norm[] norms;
  private final long[] nanos;
  private long building;

  /** What normalises. */
  public enum Competitor {
    /** The plain loop of a port. */
    LOOP,
    /** This library with the backend that it takes. */
    OWN,
    /** This library with Java loops. */
    LOOPS
  }

  /** What a call does. */
  public enum Kind {
    /** RMSNorm of a row. */
    RMSNORM,
    /** LayerNorm of a row, with a bias. */
    LAYERNORM,
    /** A row is added to the residual, and the sum is normalised. */
    RESIDUAL,
    /** RMSNorm of a row that does not begin at the start of its array. */
    OFFSET,
    /** RMSNorm in two threads, with norms and rows of their own. */
    THREADS,
    /** RMSNorm of eight rows, as of the heads of a token. */
    HEADS(8),
    /** RMSNorm of 128 rows, as of the tokens of a prompt. */
    PROMPT(128);

    private final int rows;

    Kind() {
      this(1);
    }

    Kind(int rows) {
      this.rows = rows;
    }
  }

  private MeasureDecode(
      Kind kind, Competitor subject, int width, int norms, int tokens, int mebibytes) {
    this.kind = kind;
    this.subject = subject;
    this.width = width;
    rows = kind.rows;
    offset = kind == Kind.OFFSET ? OFFSET : 0;
    other = new float[mebibytes << 18];
    x = new float[offset + rows * width];
    y = new float[x.length];
    residual = new float[width];
    for (int i = 0; i < x.length; i++) {
      x[i] = i % 7 - 3;
    }
    gains = new float[norms][width];
    biases = new float[norms][width];
    for (int i = 0; i < norms; i++) {
      Arrays.fill(gains[i], 1.1f);
      Arrays.fill(biases[i], 0.1f);
    }
    this.norms = new Norm[norms];
    nanos = new long[norms * tokens];
  }

  /**
   * Writes nanoseconds to a file, a line each: of building the norms, the processor time of the
   * process, and of each call; where two threads call, those of the slower one.
   *
   * @param args the file, the {@link Competitor}, the {@link Kind}, the width, the number of norms,
   *     the number of tokens, and the MiB that are read before each call
   * @throws IOException if the file cannot be written
   * @throws InterruptedException if somebody interrupts this thread
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    Kind kind = Kind.valueOf(args[2]);
    MeasureDecode[] all = new MeasureDecode[kind == Kind.THREADS ? 2 : 1];
    Thread[] threads = new Thread[all.length];
    for (int i = 0; i < all.length; i++) {
      MeasureDecode one =
          new MeasureDecode(
              kind,
              Competitor.valueOf(args[1]),
              Integer.parseInt(args[3]),
              Integer.parseInt(args[4]),
              Integer.parseInt(args[5]),
              Integer.parseInt(args[6]));
      all[i] = one;
      threads[i] = new Thread(one::run);
    }
    for (Thread thread : threads) {
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    write(Path.of(args[0]), all);
  }

  private static void write(Path file, MeasureDecode[] all) throws IOException {
    long processor = ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
    MeasureDecode slowest = all[0];
    for (MeasureDecode one : all) {
      slowest = Arrays.stream(one.nanos).sum() > Arrays.stream(slowest.nanos).sum() ? one : slowest;
    }
    StringBuilder lines = new StringBuilder();
    lines.append(slowest.building).append('\n').append(processor).append('\n');
    for (long nanos : slowest.nanos) {
      lines.append(nanos).append('\n');
    }
    for (MeasureDecode one : all) {
      one.check();
    }
    Files.writeString(file, lines);
  }

  private void run() {
    long begin = System.nanoTime();
    for (int i = 0; subject != Competitor.LOOP && i < norms.length; i++) {
      NormBuilder<?> builder =
          kind == Kind.LAYERNORM
              ? LayerNorm.builder(width).bias(biases[i])
              : RmsNorm.builder(width);
      if (subject == Competitor.LOOPS) {
        builder.backend(Backend.loops());
      }
      norms[i] = builder.epsilon(EPSILON).gain(gains[i]).threads(1).build();
    }
    building = System.nanoTime() - begin;
    for (int call = 0; call < nanos.length; call++) {
      float sum = 0;
      for (int i = 0; i < other.length; i += 16) {
        sum += other[i];
      }
      read = sum;
      Arrays.fill(residual, 1);
      begin = System.nanoTime();
      if (subject != Competitor.LOOP) {
        norm(norms[call % norms.length]);
      } else {
        loop(call % norms.length);
      }
      nanos[call] = System.nanoTime() - begin;
    }
  }

  private void norm(Norm norm) {
    if (kind == Kind.RESIDUAL) {
      norm.addAndApply(x, residual, y);
    } else {
      norm.apply(x, offset, y, offset, rows);
    }
  }

  private void loop(int norm) {
    if (kind == Kind.LAYERNORM) {
      layerNorm(y, x, gains[norm], biases[norm], width);
    } else if (kind == Kind.RESIDUAL) {
      add(residual, x, width);
      rmsNorm(y, residual, gains[norm], width);
    } else if (offset == 0 && rows == 1) {
      rmsNorm(y, x, gains[norm], width);
    } else {
      for (int row = 0; row < rows; row++) {
        rmsNorm(y, offset + row * width, x, offset + row * width, gains[norm], width);
      }
    }
  }

  private static void add(float[] sum, float[] x, int n) {
    for (int i = 0; i < n; i++) {
      sum[i] += x[i];
    }
  }

  private static void rmsNorm(float[] y, float[] x, float[] gain, int n) {
    float squares = 0;
    for (int i = 0; i < n; i++) {
      squares += x[i] * x[i];
    }
    float rstd = (float) (1 / Math.sqrt(squares / n + EPSILON));
    for (int i = 0; i < n; i++) {
      y[i] = gain[i] * (rstd * x[i]);
    }
  }

  private static void rmsNorm(float[] y, int yAt, float[] x, int xAt, float[] gain, int n) {
    float squares = 0;
    for (int i = 0; i < n; i++) {
      squares += x[xAt + i] * x[xAt + i];
    }
    float rstd = (float) (1 / Math.sqrt(squares / n + EPSILON));
    for (int i = 0; i < n; i++) {
      y[yAt + i] = gain[i] * (rstd * x[xAt + i]);
    }
  }

  private static void layerNorm(float[] y, float[] x, float[] gain, float[] bias, int n) {
    float mean = 0;
    for (int i = 0; i < n; i++) {
      mean += x[i];
    }
    mean /= n;
    float squares = 0;
    for (int i = 0; i < n; i++) {
      squares += (x[i] - mean) * (x[i] - mean);
    }
    float rstd = (float) (1 / Math.sqrt(squares / n + EPSILON));
    for (int i = 0; i < n; i++) {
      y[i] = (x[i] - mean) * rstd * gain[i] + bias[i];
    }
  }

  /** Compares the last rows with the definition, in float64. */
  private void check() {
    for (int row = 0; row < rows; row++) {
      double[] of = new double[width];
      for (int i = 0; i < width; i++) {
        of[i] = x[offset + row * width + i] + (kind == Kind.RESIDUAL ? 1.0 : 0.0);
      }
      double mean = kind == Kind.LAYERNORM ? Arrays.stream(of).average().orElseThrow() : 0;
      double squares = Arrays.stream(of).map(v -> (v - mean) * (v - mean)).average().orElseThrow();
      double rstd = 1 / Math.sqrt(squares + EPSILON);
      for (int i = 0; i < width; i++) {
        double exact = (of[i] - mean) * rstd * 1.1f + (kind == Kind.LAYERNORM ? 0.1f : 0);
        float found = y[offset + row * width + i];
        if (!(Math.abs(found - exact) <= 1e-5)) {
          throw new IllegalStateException(
              "element " + i + " of row " + row + " is " + found + ", it must be " + exact);
        }
      }
    }
  }
}
