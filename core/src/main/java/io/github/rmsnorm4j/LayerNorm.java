package io.github.rmsnorm4j;

/**
 * LayerNorm: every row less its mean, divided by its standard deviation.
 *
 * <pre>y_i = (x_i - mean) * rstd * g_i + b_i,    rstd = 1 / sqrt( variance + epsilon )</pre>
 *
 * <p>Ba, Kiros and Hinton, "Layer Normalization", 2016; the variance is the population's, {@code
 * mean of (x_i - mean)^2}. It is never computed as E[x^2] - mean^2, which gives NaN or nonsense
 * where the mean is large against the deviation: rows like {@code [40000, 40001, 40002, 40003]} are
 * right here.
 *
 * <pre>{@code
 * LayerNorm norm = LayerNorm.builder(768).epsilon(1e-5).gain(weight).bias(bias).build();
 * norm.apply(x, y);
 * }</pre>
 *
 * <p>Float32 rows: {@code |y - exact| <= 5.01 * 2^-24 * |(x - mean) * rstd * g| + 2^-149 * (1 +
 * |g|) + (2^-46 * max|x| + 2^-150) * rstd * |g|}, for every finite row; with a bias 6.01, and |b|
 * added to what it multiplies. A row of equal elements gives the bias, and NaN where epsilon is 0.
 */
public final class LayerNorm extends Norm {
  /** What {@link #builder} starts with: 1e-5, the default of PyTorch and ONNX. */
  public static final double DEFAULT_EPSILON = 1e-5;

  private LayerNorm(Builder builder) {
    super(builder, true, builder.width(), CastOrder.FLOAT32);
  }

  /**
   * Begins a LayerNorm without gain and bias, with epsilon {@value #DEFAULT_EPSILON}.
   *
   * @param width elements per row
   * @return a builder
   * @throws IllegalArgumentException if the width is below 1
   */
  public static Builder builder(int width) {
    return new Builder(width);
  }

  /**
   * Normalises rows and keeps what the backward pass needs.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes
   * @param mean takes each row's mean, in float64; at least as long as there are rows
   * @param rstd takes each row's rstd: a float32 value for float32 arithmetic, and float64 where
   *     the row is out of its range. At least as long as there are rows; with the mean 16 bytes a
   *     row
   * @throws IllegalArgumentException if the shapes do not fit, or memory overlaps as it may not
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void apply(Rows x, Rows y, double[] mean, double[] rstd) {
    run(x, null, null, null, y, mean, rstd);
  }

  /** Collects what a {@link LayerNorm} is made of. */
  public static final class Builder extends Norm.Builder<Builder> {
    private Builder(int width) {
      super(width, DEFAULT_EPSILON);
    }

    @Override
    Builder self() {
      return this;
    }

    /**
     * The norm.
     *
     * @return an immutable norm of what has been chosen so far
     */
    public LayerNorm build() {
      return new LayerNorm(this);
    }
  }
}
