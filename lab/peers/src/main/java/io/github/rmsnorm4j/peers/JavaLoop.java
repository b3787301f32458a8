package io.github.rmsnorm4j.peers;

import static java.lang.foreign.MemorySegment.ofArray;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Loops over arrays, for {@code float[]} with a float for the sum, as the Java ports of llama2.c
 * and inference engines on the JVM that follow them write RMSNorm; LayerNorm and the gradients in
 * the same manner, after llm.c. Rows are shared out over a parallel stream where there are more
 * threads.
 */
final class JavaLoop {
  private final int rows;
  private final int n;
  private final float epsilon;
  private final float[] x;
  private final float[] y;
  private final float[] gain;
  private final float[] bias;

  private JavaLoop(Place place) {
    rows = place.contest.rows();
    n = place.contest.width();
    epsilon = (float) place.epsilon;
    x = place.x.toArray(JAVA_FLOAT);
    y = new float[x.length];
    gain = Place.floats(place.gain);
    bias = Place.floats(place.bias);
  }

  /** Every type forward, float32 backward. */
  static List<Entrant> entrants(Contest contest) {
    return contest.type() == ElementType.FLOAT32 || !contest.backward()
        ? List.of(entrant(contest))
        : List.of();
  }

  static Entrant entrant(Contest contest) {
    return new Entrant(Systems.JAVA_LOOP, contest.kernel(), JavaLoop::ready);
  }

  /** On one thread for backward: the gradients of the parameters are sums over all rows. */
  private static Turn ready(Place place, int threads) {
    if (place.contest.backward()) {
      return new JavaLoop(place).backward(place);
    }
    return switch (place.contest.type()) {
      case FLOAT32 -> new JavaLoop(place).forward(place, threads);
      case FLOAT64 -> new DoubleLoop(place).forward(place, threads);
      case FLOAT16, BFLOAT16 -> new NarrowLoop(place).forward(place, threads);
    };
  }

  private Turn forward(Place place, int threads) {
    return forward(place, threads, bias == null ? this::rmsNorm : this::layerNorm, ofArray(y));
  }

  /** Rows by their first element, which a loop writes to memory of its own. */
  static Turn forward(Place place, int threads, IntConsumer row, MemorySegment y) {
    int rows = place.contest.rows();
    int n = place.contest.width();
    return new Turn() {
      @Override
      public void run() {
        if (threads == 1 || rows == 1) {
          rows(0, rows);
        } else {
          // No more runs of rows than threads that may be busy.
          IntStream.range(0, threads)
              .parallel()
              .forEach(i -> rows(rows * i / threads, rows * (i + 1) / threads));
        }
      }

      private void rows(int from, int to) {
        for (int r = from; r < to; r++) {
          row.accept(r * n);
        }
      }

      @Override
      public void collect() {
        place.y.copyFrom(y);
      }
    };
  }

  private void rmsNorm(int at) {
    float ss = 0;
    for (int j = 0; j < n; j++) {
      ss += x[at + j] * x[at + j];
    }
    ss /= n;
    ss += epsilon;
    ss = 1 / (float) Math.sqrt(ss);
    for (int j = 0; j < n; j++) {
      y[at + j] = gain[j] * (ss * x[at + j]);
    }
  }

  private void layerNorm(int at) {
    float mean = mean(at);
    float rstd = rstd(at, mean);
    for (int j = 0; j < n; j++) {
      y[at + j] = (x[at + j] - mean) * rstd * gain[j] + bias[j];
    }
  }

  private float mean(int at) {
    float sum = 0;
    for (int j = 0; j < n; j++) {
      sum += x[at + j];
    }
    return sum / n;
  }

  private float rstd(int at, float mean) {
    float squares = 0;
    for (int j = 0; j < n; j++) {
      float shift = x[at + j] - mean;
      squares += shift * shift;
    }
    return 1 / (float) Math.sqrt(squares / n + epsilon);
  }

  private Turn backward(Place place) {
    float[] dy = place.dy.toArray(JAVA_FLOAT);
    float[] dgain = new float[n];
    float[] dbias = new float[n];
    float[] means = new float[rows];
    float[] rstds = new float[rows];
    for (int r = 0; r < rows; r++) {
      means[r] = bias == null ? 0 : mean(r * n);
      rstds[r] = rstd(r * n, means[r]);
    }
    return new Turn() {
      @Override
      public void run() {
        Arrays.fill(dgain, 0);
        Arrays.fill(dbias, 0);
        for (int r = 0; r < rows; r++) {
          if (bias == null) {
            rmsGradient(r * n, rstds[r], dy, dgain);
          } else {
            layerGradient(r * n, means[r], rstds[r], dy, dgain, dbias);
          }
        }
      }

      @Override
      public void collect() {
        MemorySegment.copy(y, 0, place.dx, JAVA_FLOAT, 0, y.length);
        MemorySegment.copy(dgain, 0, place.dgain, JAVA_FLOAT, 0, n);
        MemorySegment.copy(dbias, 0, place.dbias, JAVA_FLOAT, 0, n);
      }
    };
  }

  private void rmsGradient(int at, float rstd, float[] dy, float[] dgain) {
    float product = 0;
    for (int j = 0; j < n; j++) {
      product += gain[j] * dy[at + j] * (x[at + j] * rstd);
    }
    product /= n;
    for (int j = 0; j < n; j++) {
      float xh = x[at + j] * rstd;
      dgain[j] += dy[at + j] * xh;
      y[at + j] = (gain[j] * dy[at + j] - xh * product) * rstd;
    }
  }

  private void layerGradient(
      int at, float mean, float rstd, float[] dy, float[] dgain, float[] dbias) {
    float sum = 0;
    float product = 0;
    for (int j = 0; j < n; j++) {
      float h = gain[j] * dy[at + j];
      sum += h;
      product += h * ((x[at + j] - mean) * rstd);
    }
    sum /= n;
    product /= n;
    for (int j = 0; j < n; j++) {
      float xh = (x[at + j] - mean) * rstd;
      dbias[j] += dy[at + j];
      dgain[j] += dy[at + j] * xh;
      y[at + j] = (gain[j] * dy[at + j] - sum - xh * product) * rstd;
    }
  }
}
