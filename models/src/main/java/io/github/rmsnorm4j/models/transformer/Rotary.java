package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;
import java.lang.foreign.ValueLayout;

/**
 * Rotary positions: element i of a head and element i + h/2 are a point that is turned by {@code
 * position * theta^(-2i/h)}. The pairs are those of Hugging Face's Llama. Where a share of each
 * head is rotated, h is the width of that first part, and the rest stays. The way back is the turn
 * back.
 */
final class Rotary {
  private final int sequence;
  private final Positions positions;
  private final int headWidth;
  private final int half;

  /** A row of h/2 for each position. */
  private final Matrix cosines;

  private final Matrix sines;

  Rotary(Setup setup) {
    ModelConfig config = setup.config();
    sequence = setup.sequence();
    positions = setup.positions();
    headWidth = config.headWidth();
    half = config.form().rotatedWidth(headWidth) / 2;
    cosines = setup.allocate(positions.capacity, half);
    sines = setup.allocate(positions.capacity, half);
    for (int i = 0; i < half; i++) {
      double frequency = Math.pow(config.ropeTheta(), -2.0 * i / (2 * half));
      for (int t = 0; t < positions.capacity; t++) {
        long at = (long) t * half + i;
        cosines.segment.setAtIndex(ValueLayout.JAVA_FLOAT, at, (float) Math.cos(t * frequency));
        sines.segment.setAtIndex(ValueLayout.JAVA_FLOAT, at, (float) Math.sin(t * frequency));
      }
    }
  }

  /** Turns every head of x (N, heads * h), in place. */
  void forward(Matrix x) {
    turn(x, 1);
  }

  /** Turns gradients back, in place. */
  void backward(Matrix dx) {
    turn(dx, -1);
  }

  private void turn(Matrix x, int direction) {
    Floats values = x.floats();
    Floats cos = cosines.floats();
    Floats sin = sines.floats();
    int heads = x.columns / headWidth;
    for (int n = 0; n < x.rows; n++) {
      long angles = (long) (positions.past() + n % sequence) * half;
      for (int head = 0; head < heads; head++) {
        long first = (long) n * x.stride + (long) head * headWidth;
        for (int i = 0; i < half; i++) {
          float a = values.get(first + i);
          float b = values.get(first + half + i);
          float c = cos.get(angles + i);
          float s = direction * sin.get(angles + i);
          values.set(first + i, a * c - b * s);
          values.set(first + half + i, b * c + a * s);
        }
      }
    }
  }
}
