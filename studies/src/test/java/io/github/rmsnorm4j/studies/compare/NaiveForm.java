package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The naive forms that {@code compare} runs, for other tests to compare with. */
public final class NaiveForm {
  private NaiveForm() {}

  /**
   * What naive RMSNorm makes of a row.
   *
   * @param squares of the elements
   * @param mean of the squares
   * @param y the output's elements
   */
  public record Steps(double[] squares, double mean, double[] y) {}

  /**
   * A float16 row through naive RMSNorm with gains of 1.
   *
   * @param row its elements, float16 numbers
   * @return the operations' results
   */
  public static Steps float16Rms(double[] row) {
    Subject subject = new Subject(Pass.FORWARD, ElementType.FLOAT16, Shape.of(1, row.length));
    try (Crew crew = new Crew(1);
        Tensors tensors = new Tensors(subject.tensorBytes())) {
      Data data = new Data(subject.type(), subject.shape());
      MemorySegment x = tensors.take();
      data.write(x, 0, row);
      Eager eager = new Eager(subject, crew, tensors);
      MemorySegment squares = eager.square(x);
      MemorySegment y = naive(Variant.RMS_NAIVE, eager, row.length).forward(x, false);
      return new Steps(data.read(squares, 0), eager.rowMeans(squares)[0], data.read(y, 0));
    }
  }

  /**
   * Counts what a naive forward pass moves.
   *
   * @param rms RMSNorm, or else LayerNorm
   * @return how often a tensor is read or written from end to end
   */
  public static int passes(boolean rms) {
    Subject subject = new Subject(Pass.FORWARD, ElementType.FLOAT32, Shape.of(1, 8));
    try (Crew crew = new Crew(1);
        Tensors tensors = new Tensors(subject.tensorBytes())) {
      Eager eager = new Eager(subject, crew, tensors);
      naive(rms ? Variant.RMS_NAIVE : Variant.LAYER_NAIVE, eager, 8).forward(tensors.take(), false);
      return eager.work().passes();
    }
  }

  private static Naive<MemorySegment, float[]> naive(Variant variant, Eager eager, int width) {
    float[] ones = new float[width];
    Arrays.fill(ones, 1);
    return new Naive<>(eager, variant, ones, new float[width]);
  }
}
