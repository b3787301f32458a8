package io.github.rmsnorm4j.internal.formula;

/** LayerNorm's mean, as it is taken off an element. */
final class Mean {
  private Mean() {}

  /** {@code x - mean}; of a float32 {@code (x - hi) - lo}, the mean being {@code hi + lo}. */
  static Value takenOff(Value x, boolean float64) {
    Value mean = Forward.row(RowNumber.MEAN);
    if (float64) {
      return x.minus(mean);
    }
    Value hi = mean.rounded();
    Value lo = mean.minus(hi.widened()).rounded();
    return x.minus(hi).minus(lo);
  }
}
