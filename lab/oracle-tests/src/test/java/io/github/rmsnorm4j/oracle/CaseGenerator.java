package io.github.rmsnorm4j.oracle;

import io.github.rmsnorm4j.ElementType;
import java.util.Random;

/** Draws rows: {@code scale * (normal + offset)}. The same seed draws the same rows everywhere. */
final class CaseGenerator {
  private final long seed;
  private final Random random;

  CaseGenerator(long seed) {
    this.seed = seed;
    this.random = new Random(seed);
  }

  /** Which of the learned parameters a norm has. */
  enum Parameters {
    NONE,
    GAIN,
    GAIN_AND_BIAS
  }

  /** Where the elements lie: their deviation, and their mean in units of it. */
  record Distribution(double scale, double offset) {}

  NormCase draw(
      boolean centred,
      ElementType type,
      Parameters parameters,
      int rows,
      int width,
      double epsilon,
      Distribution of) {
    return new NormCase(
        of + " of seed " + seed,
        centred,
        type,
        width,
        epsilon,
        values(rows * width, type, of.scale(), of.offset()),
        parameters == Parameters.NONE ? null : values(width, type, 0.5, 2),
        parameters == Parameters.GAIN_AND_BIAS ? values(width, type, 1, 0) : null);
  }

  private double[] values(int count, ElementType type, double scale, double offset) {
    double[] values = new double[count];
    for (int i = 0; i < count; i++) {
      values[i] = Elements.round(scale * (random.nextGaussian() + offset), type);
    }
    return values;
  }
}
