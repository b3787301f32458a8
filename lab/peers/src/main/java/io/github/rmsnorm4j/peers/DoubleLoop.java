package io.github.rmsnorm4j.peers;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;

import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.lang.foreign.MemorySegment;

/** The loops of {@link JavaLoop} over {@code double[]}. */
final class DoubleLoop {
  private final int n;
  private final double epsilon;
  private final double[] x;
  private final double[] y;
  private final double[] gain;
  private final double[] bias;

  DoubleLoop(Place place) {
    n = place.contest.width();
    epsilon = place.epsilon;
    x = place.x.toArray(JAVA_DOUBLE);
    y = new double[x.length];
    gain = place.gain;
    bias = place.bias;
  }

  Turn forward(Place place, int threads) {
    return JavaLoop.forward(
        place, threads, bias == null ? this::rmsNorm : this::layerNorm, MemorySegment.ofArray(y));
  }

  private void rmsNorm(int at) {
    double ss = 0;
    for (int j = 0; j < n; j++) {
      ss += x[at + j] * x[at + j];
    }
    ss = 1 / Math.sqrt(ss / n + epsilon);
    for (int j = 0; j < n; j++) {
      y[at + j] = gain[j] * (ss * x[at + j]);
    }
  }

  private void layerNorm(int at) {
    double mean = 0;
    for (int j = 0; j < n; j++) {
      mean += x[at + j];
    }
    mean /= n;
    double squares = 0;
    for (int j = 0; j < n; j++) {
      double shift = x[at + j] - mean;
      squares += shift * shift;
    }
    double rstd = 1 / Math.sqrt(squares / n + epsilon);
    for (int j = 0; j < n; j++) {
      y[at + j] = (x[at + j] - mean) * rstd * gain[j] + bias[j];
    }
  }
}
