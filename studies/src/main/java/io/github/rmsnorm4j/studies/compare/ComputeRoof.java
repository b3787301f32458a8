package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.measure.Interleaved;
import java.util.List;

/**
 * How many float32 operations a second the machine does where memory is no obstacle: a polynomial
 * of numbers that stay in the nearest cache, many operations for each that is loaded.
 */
final class ComputeRoof {
  private static final int NUMBERS = 1024;
  private static final int REPEATS = 256;

  /** A multiplication and an addition in each of 16 steps. */
  private static final int OPERATIONS = 32;

  private ComputeRoof() {}

  /** Operations per second on so many threads. */
  static double measure(int threads, Effort effort, Crew crew) {
    float[][] numbers = new float[threads][NUMBERS];
    Runnable work =
        () ->
            crew.run(
                threads,
                Long.MAX_VALUE,
                (from, to) -> {
                  for (int t = from; t < to; t++) {
                    for (int i = 0; i < REPEATS; i++) {
                      polynomial(numbers[t], 0.5f, 0.25f);
                    }
                  }
                });
    double nanos =
        new Interleaved(effort, System::nanoTime)
            .measure(List.of(List.of(work)))
            .getFirst()
            .median();
    return (double) OPERATIONS * NUMBERS * REPEATS * threads / nanos * 1e9;
  }

  /** Towards b / (1 - a), which is an ordinary number. The JIT makes vectors of the loop. */
  private static void polynomial(float[] numbers, float a, float b) {
    for (int i = 0; i < numbers.length; i++) {
      float x = numbers[i];
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      x = x * a + b;
      numbers[i] = x;
    }
  }
}
