package io.github.rmsnorm4j;

/**
 * RMSNorm: every row divided by its root mean square, no mean taken off.
 *
 * <pre>y_i = x_i * rstd * g_i + b_i,    rstd = 1 / sqrt( (x_1^2 + ... + x_n^2) / n + epsilon )
 * </pre>
 *
 * <p>Zhang and Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019, formula (4), with
 * epsilon inside the root as every framework has it. Gain g and bias b are optional; language
 * models use a gain and no bias.
 *
 * <pre>{@code
 * RmsNorm norm = RmsNorm.builder(4096).epsilon(1e-6).gain(weights).build();
 * norm.apply(x, y);
 * }</pre>
 *
 * <p>Float32 rows: each element is within three roundings of the exact result, {@code |y - exact|
 * <= 3.01 * 2^-24 * |x * rstd * g| + 2^-149 * (1 + |g|)}, for every finite row; with a bias within
 * four, and |b| added to what they multiply. A row of zeros gives the bias, and NaN where epsilon
 * is 0.
 */
public final class RmsNorm extends Norm {
  /** What {@link #builder} starts with: 1e-6, the default of Hugging Face's models and of Keras. */
  public static final double DEFAULT_EPSILON = 1e-6;

  private RmsNorm(Builder builder) {
    super(builder);
  }

  /**
   * Begins an RMSNorm without gain and bias, with epsilon {@value #DEFAULT_EPSILON}.
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
   * @param rstd takes each row's rstd: a float32 value for float32 arithmetic, and float64 where
   *     the row is out of its range. At least as long as there are rows; eight bytes a row
   * @throws IllegalArgumentException if the shapes do not fit, or memory overlaps as it may not
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void apply(Rows x, Rows y, double[] rstd) {
    run(x, null, null, y, null, rstd);
  }

  @Override
  boolean centred() {
    return false;
  }

  /** Collects what an {@link RmsNorm} is made of. */
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
    public RmsNorm build() {
      return new RmsNorm(this);
    }
  }
}
