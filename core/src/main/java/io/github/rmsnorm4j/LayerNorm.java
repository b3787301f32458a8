package io.github.rmsnorm4j;

import org.jspecify.annotations.Nullable;

/**
 * LayerNorm: subtracts the mean of each row and divides by its standard deviation.
 *
 * <pre>y_i = (x_i - mean) * rstd * g_i + b_i,    rstd = 1 / sqrt( variance + epsilon )</pre>
 *
 * <p>Ba, Kiros and Hinton, "Layer Normalization", 2016. The variance is that of the population,
 * {@code mean of (x_i - mean)^2}. It is not computed as E[x^2] - mean^2, which gives NaN or wrong
 * numbers if the mean is large compared with the deviation. So rows such as {@code [40000, 40001,
 * 40002, 40003]} are right. Only {@link #statistics(double[], long, RowStatistics)} has sums that
 * leave no other way.
 *
 * <pre>{@code
 * LayerNorm norm = LayerNorm.builder(768).epsilon(1e-5).gain(weight).bias(bias).build();
 * norm.apply(x, y);
 * }</pre>
 *
 * <p><b>Accuracy.</b> For every finite float32 row, with epsilon inside the root and no gain
 * offset,
 *
 * <pre>|y - exact| &lt;= 5.01 * 2^-24 * |(x - mean) * rstd * g| + 2^-149 * (1 + |g|)
 *                + (E * max|x| + 2^-150) * rstd * |g|
 * </pre>
 *
 * <p>as long as nothing overflows the output's type. E is 2^-46 for rows of up to 1,024 elements,
 * and (235 + n / 32,768) * 2^-53 for rows of n. Rows of more than 2^15 and at most 2^20 elements
 * have 5.35 instead of 5.01 if the first element is 170 standard deviations or more from the mean.
 * Rows of more than 2^28 have 5.08. A bias adds 1 to this number, and |b| to the number that it
 * multiplies. A row of equal elements gives the bias, or NaN if epsilon is 0.
 */
public final class LayerNorm extends Norm {
  /** The epsilon of {@link #builder}: 1e-5, as in PyTorch and ONNX. */
  public static final double DEFAULT_EPSILON = 1e-5;

  private LayerNorm(Builder builder) {
    super(builder);
  }

  private LayerNorm(LayerNorm norm, @Nullable Rows gain, @Nullable Rows bias) {
    super(norm, gain, bias);
  }

  @Override
  LayerNorm view(@Nullable Rows gain, @Nullable Rows bias) {
    return new LayerNorm(this, gain, bias);
  }

  /**
   * {@return a builder of a LayerNorm of given choices, without gain and bias}
   *
   * @param spec the choices
   * @param width elements per row
   * @throws IllegalArgumentException if the spec is of another kind, or the width is below 1
   */
  public static Builder builder(NormSpec spec, int width) {
    return new Builder(spec, width);
  }

  /**
   * {@return a builder of a LayerNorm without gain and bias, with epsilon {@value
   * #DEFAULT_EPSILON}: {@link NormSpec#LAYERNORM}}
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1
   */
  public static Builder builder(int width) {
    return builder(NormSpec.LAYERNORM, width);
  }

  /**
   * Normalises rows and returns the statistics of each row, for a backward pass of your own. {@link
   * #apply(Rows, Rows, Saved)} keeps them for {@link #backward}.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes
   * @param mean takes the mean of each row, in float64; at least one element per row
   * @param rstd takes the rstd of each row: in float32 arithmetic a float32 value, or a float64
   *     value if the row is out of the range of float32. At least one element per row
   * @throws IllegalArgumentException if the shapes do not fit, or memory overlaps illegally
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void apply(Rows x, Rows y, double[] mean, double[] rstd) {
    new ForwardCall(this, x, y).keeping(mean, rstd).run();
  }

  /** Collects the choices of a {@link LayerNorm}. */
  public static final class Builder extends NormBuilder<Builder> {
    private Builder(NormSpec spec, int width) {
      super(spec, NormSpec.Kind.LAYER_NORM, width);
    }

    /** {@return an immutable norm with the choices made so far} */
    @Override
    public LayerNorm build() {
      return new LayerNorm(this);
    }
  }
}
