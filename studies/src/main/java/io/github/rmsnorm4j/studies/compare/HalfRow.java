package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.ElementType;
import java.util.Arrays;
import java.util.List;

/**
 * A float16 row whose squares are past the largest float16 number, 65504, through both forms.
 *
 * @param norm RMSNorm or LayerNorm
 * @param width elements of the row
 * @param input its first elements
 * @param exact what they should become
 * @param naive what the naive form makes of them
 * @param fused what the fused form makes of them
 * @param naiveWrong elements that are off by more than a hundredth of the row's largest
 * @param fusedWrong the same of the fused form
 */
public record HalfRow(
    String norm,
    int width,
    List<Double> input,
    List<Double> exact,
    List<Double> naive,
    List<Double> fused,
    int naiveWrong,
    int fusedWrong) {
  private static final int WIDTH = 4096;
  private static final int SHOWN = 4;
  private static final double WRONG = 0.01;

  /** What runs the row. */
  static Subject subject() {
    return new Subject(Pass.FORWARD, ElementType.FLOAT16, Shape.of(1, WIDTH));
  }

  /** Runs the row through a norm on the ground of {@link #subject}. */
  static <T> HalfRow of(Variant naive, Variant fused, Ground<T> ground) {
    Data data = new Data(ground.subject().type(), ground.subject().shape());
    double[] row = new double[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
      row[i] = (i % 2 == 0 ? 1 : -1) * (300 + i % 100);
    }
    Exact exact = new Exact(fused, data.parameters(Data.GAIN), data.parameters(Data.BIAS));
    double[] right = exact.forward(row);
    ground.write(ground.x(), 0, row);
    double[] byNaive = ground.read(ground.contestant(naive).pass(), 0);
    double[] byFused = ground.read(ground.contestant(fused).pass(), 0);
    return new HalfRow(
        fused.isRms() ? "RMSNorm" : "LayerNorm",
        WIDTH,
        first(row),
        first(right),
        first(byNaive),
        first(byFused),
        wrong(byNaive, right),
        wrong(byFused, right));
  }

  private static List<Double> first(double[] values) {
    return Arrays.stream(values).limit(SHOWN).boxed().toList();
  }

  private static int wrong(double[] got, double[] right) {
    double largest = Arrays.stream(right).map(Math::abs).max().orElseThrow();
    int wrong = 0;
    for (int i = 0; i < right.length; i++) {
      wrong += Math.abs(got[i] - right[i]) <= WRONG * largest ? 0 : 1;
    }
    return wrong;
  }
}
