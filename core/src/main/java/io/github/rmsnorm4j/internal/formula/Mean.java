package io.github.rmsnorm4j.internal.formula;

/** How LayerNorm subtracts the mean from an element. */
final class Mean {
  private Mean() {}

  /** {@code x - mean}; in float32 {@code (x - hi) - lo}, where the mean is {@code hi + lo}. */
  static Value takenOff(Value x, boolean float64) {
    Value mean = Value.row(Forward.MEAN);
    if (float64) {
      return x.minus(mean);
    }
    Value hi = mean.rounded();
    Value lo = mean.minus(hi.widened()).rounded();
    return x.minus(hi).minus(lo);
  }
}
