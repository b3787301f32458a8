package io.github.rmsnorm4j.models.check;

/** Whether the mean is subtracted, and how. One line for each; all but the first are LayerNorm. */
public enum Centring {
  /** RMSNorm: it is not. */
  NONE("RMSNorm"),
  /** {@code (x - hi) - lo}, where hi + lo is the mean in float64: this library. */
  SPLIT("LayerNorm (split mean)"),
  /** {@code x - mean}, with the mean in the compute type. */
  MEAN("LayerNorm"),
  /** {@code x * rstd - mean * rstd}. */
  SHIFT("LayerNorm (shifted)"),
  /** {@link #SHIFT}, with one rounding for a product and the difference. */
  FUSED_SHIFT("LayerNorm (fused shift)");

  private final String text;

  Centring(String text) {
    this.text = text;
  }

  /** What a reader calls it. */
  @Override
  public String toString() {
    return text;
  }
}
