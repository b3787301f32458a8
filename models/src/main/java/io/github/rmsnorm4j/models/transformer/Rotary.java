package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.transformer.StepTimes.Part;

/**
 * Rotary positions: element i of a head and element i + h/2 are a point that is turned by {@code
 * position * theta^(-2i/h)}. The pairs are those of Hugging Face's Llama. Where a share of each
 * head is rotated, h is the width of that first part, and the rest stays. The way back is the turn
 * back.
 */
final class Rotary {
  private final Tape tape;
  private final int half;

  /** A row of h/2 for each position. */
  private final Floats cosines;

  private final Floats sines;

  Rotary(Tape tape) {
    this.tape = tape;
    ModelConfig config = tape.config;
    half = config.form().rotatedWidth(config.headWidth()) / 2;
    cosines = tape.allocate(tape.positions, half).floats();
    sines = tape.allocate(tape.positions, half).floats();
    for (int i = 0; i < half; i++) {
      double frequency = Math.pow(config.ropeTheta(), -2.0 * i / (2 * half));
      for (int t = 0; t < tape.positions; t++) {
        long at = (long) t * half + i;
        cosines.set(at, (float) Math.cos(t * frequency));
        sines.set(at, (float) Math.sin(t * frequency));
      }
    }
  }

  /** Turns every head of x (N, heads * h), in place. */
  void add(Variable x) {
    tape.add(Part.ATTENTION, () -> turn(x.values, 1), () -> turn(x.gradient(), -1));
  }

  private void turn(Matrix x, int direction) {
    Floats values = x.floats();
    int headWidth = tape.config.headWidth();
    for (int n = 0; n < x.rows; n++) {
      long angles = (long) (tape.past() + n % tape.sequence) * half;
      for (int head = 0; head < x.columns; head += headWidth) {
        long first = (long) n * x.columns + head;
        for (int i = 0; i < half; i++) {
          float a = values.get(first + i);
          float b = values.get(first + half + i);
          float c = cosines.get(angles + i);
          float s = direction * sines.get(angles + i);
          values.set(first + i, a * c - b * s);
          values.set(first + half + i, b * c + a * s);
        }
      }
    }
  }
}
