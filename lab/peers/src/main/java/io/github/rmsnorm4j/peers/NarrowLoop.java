package io.github.rmsnorm4j.peers;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/**
 * The loops of {@link JavaLoop} over {@code short[]} that holds bfloat16 or float16: elements are
 * widened and rounded one by one, all else is float32. The conversions are part of what a program
 * writes by hand, so they are not the library's.
 */
final class NarrowLoop {
  private final int n;
  private final float epsilon;
  private final short[] x;
  private final short[] y;
  private final float[] gain;
  private final float[] bias;

  NarrowLoop(Place place) {
    n = place.contest.width();
    epsilon = (float) place.epsilon;
    x = place.x.toArray(JAVA_SHORT);
    y = new short[x.length];
    gain = Place.floats(place.gain);
    bias = Place.floats(place.bias);
  }

  Turn forward(Place place, int threads) {
    boolean bfloat16 = place.contest.type() == ElementType.BFLOAT16;
    IntConsumer rmsNorm = bfloat16 ? this::bfloat16RmsNorm : this::float16RmsNorm;
    IntConsumer layerNorm = bfloat16 ? this::bfloat16LayerNorm : this::float16LayerNorm;
    return JavaLoop.forward(
        place, threads, bias == null ? rmsNorm : layerNorm, MemorySegment.ofArray(y));
  }

  private void bfloat16RmsNorm(int at) {
    float ss = 0;
    for (int j = 0; j < n; j++) {
      float v = widened(x[at + j]);
      ss += v * v;
    }
    ss = 1 / (float) Math.sqrt(ss / n + epsilon);
    for (int j = 0; j < n; j++) {
      y[at + j] = rounded(gain[j] * (ss * widened(x[at + j])));
    }
  }

  private void bfloat16LayerNorm(int at) {
    float mean = 0;
    for (int j = 0; j < n; j++) {
      mean += widened(x[at + j]);
    }
    mean /= n;
    float squares = 0;
    for (int j = 0; j < n; j++) {
      float shift = widened(x[at + j]) - mean;
      squares += shift * shift;
    }
    float rstd = 1 / (float) Math.sqrt(squares / n + epsilon);
    for (int j = 0; j < n; j++) {
      y[at + j] = rounded((widened(x[at + j]) - mean) * rstd * gain[j] + bias[j]);
    }
  }

  private void float16RmsNorm(int at) {
    float ss = 0;
    for (int j = 0; j < n; j++) {
      float v = Float.float16ToFloat(x[at + j]);
      ss += v * v;
    }
    ss = 1 / (float) Math.sqrt(ss / n + epsilon);
    for (int j = 0; j < n; j++) {
      y[at + j] = Float.floatToFloat16(gain[j] * (ss * Float.float16ToFloat(x[at + j])));
    }
  }

  private void float16LayerNorm(int at) {
    float mean = 0;
    for (int j = 0; j < n; j++) {
      mean += Float.float16ToFloat(x[at + j]);
    }
    mean /= n;
    float squares = 0;
    for (int j = 0; j < n; j++) {
      float shift = Float.float16ToFloat(x[at + j]) - mean;
      squares += shift * shift;
    }
    float rstd = 1 / (float) Math.sqrt(squares / n + epsilon);
    for (int j = 0; j < n; j++) {
      y[at + j] =
          Float.floatToFloat16((Float.float16ToFloat(x[at + j]) - mean) * rstd * gain[j] + bias[j]);
    }
  }

  private static float widened(short bfloat16) {
    return Float.intBitsToFloat(bfloat16 << 16);
  }

  /** To the nearest, ties to even; no element here is a NaN. */
  private static short rounded(float value) {
    int bits = Float.floatToRawIntBits(value);
    return (short) ((bits + 0x7fff + (bits >>> 16 & 1)) >>> 16);
  }
}
