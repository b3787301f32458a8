package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.PlainValues;
import java.util.List;

/**
 * The scales of some blocks in plain Java, and what their elements are multiplied with or divided
 * by.
 */
final class BlockScales {
  /** The most blocks at a time. */
  static final int MOST = PlainValues.MOST;

  private final PlainValues values;
  private final float[] scales;
  private final float[] factors;
  private final float[] emptyScales;

  /** By block: the largest magnitude, which the caller finds; NaN if there is one. */
  final float[] largest;

  BlockScales(CodeFormula formula) {
    Value scale = formula.scale();
    Value factor = formula.factor();
    Value emptyScale = formula.emptyScale();
    values = new PlainValues(List.of(scale, factor, emptyScale));
    largest = values.floats(CodeFormula.LARGEST);
    scales = values.floats(scale);
    factors = values.floats(factor);
    emptyScales = values.floats(emptyScale);
  }

  /** Finds the scales and factors of the first blocks. */
  void find(int blocks) {
    values.compute(blocks);
  }

  private boolean hasCodes(int block) {
    return isPositive(scales[block]) && isPositive(factors[block]);
  }

  private static boolean isPositive(float number) {
    return number > 0 && number < Float.POSITIVE_INFINITY;
  }

  float scale(int block) {
    return hasCodes(block) ? scales[block] : emptyScales[block];
  }

  /** 0 where all codes are 0. */
  float factor(int block) {
    return hasCodes(block) ? factors[block] : 0;
  }
}
