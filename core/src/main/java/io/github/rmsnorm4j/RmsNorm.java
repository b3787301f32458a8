package io.github.rmsnorm4j;

import org.jspecify.annotations.Nullable;

/**
 * RMSNorm: divides each row by its root mean square. It does not subtract the mean.
 *
 * <pre>y_i = x_i * rstd * g_i + b_i,    rstd = 1 / sqrt( (x_1^2 + ... + x_k^2) / k + epsilon )
 * </pre>
 *
 * <p>Zhang and Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019, formula (4), with
 * epsilon inside the root as in every framework. The gain g and the bias b are optional; language
 * models use a gain and no bias. k is the width n, except in partial RMSNorm ({@link
 * Builder#part}).
 *
 * <pre>{@code
 * RmsNorm norm = RmsNorm.builder(4096).epsilon(1e-6).gain(weights).build();
 * norm.apply(x, y);
 *
 * RmsNorm gemma = RmsNorm.gemma(2048).gain(weights).build();
 * }</pre>
 *
 * <p><b>Accuracy.</b> For every finite float32 row, with cast order FLOAT32, epsilon inside the
 * root, no gain offset and k = n,
 *
 * <pre>|y - exact| &lt;= 3.01 * 2^-24 * |x * rstd * g| + 2^-149 * (1 + |g|)
 * </pre>
 *
 * <p>as long as nothing overflows the output's type: each element is within three roundings. With a
 * bias it is 4.01 instead of 3.01, and |b| is added to the number that it multiplies. A cast order
 * adds its own rounding. A row of zeros gives the bias, or NaN if epsilon is 0.
 *
 * <p>Outside the part of a partial norm {@code x * rstd} may overflow, and then the gradient of the
 * row does too.
 */
public final class RmsNorm extends Norm {
  /** The epsilon of {@link #builder}: 1e-6, as in Hugging Face's models and Keras. */
  public static final double DEFAULT_EPSILON = 1e-6;

  private RmsNorm(Builder builder) {
    super(builder);
  }

  private RmsNorm(RmsNorm norm, @Nullable Rows gain, @Nullable Rows bias) {
    super(norm, gain, bias);
  }

  @Override
  RmsNorm view(@Nullable Rows gain, @Nullable Rows bias) {
    return new RmsNorm(this, gain, bias);
  }

  /**
   * {@return a builder of an RMSNorm of given choices, without gain and bias}
   *
   * @param spec the choices
   * @param width elements per row
   * @throws IllegalArgumentException if the spec is of another kind, the width is below 1, or the
   *     part leaves no element of a row
   */
  public static Builder builder(NormSpec spec, int width) {
    return new Builder(spec, width);
  }

  /**
   * {@return a builder of an RMSNorm without gain and bias, with epsilon {@value #DEFAULT_EPSILON}:
   * {@link NormSpec#RMSNORM}}
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1
   */
  public static Builder builder(int width) {
    return builder(NormSpec.RMSNORM, width);
  }

  /**
   * {@return a builder of the norm {@link NormSpec#LLAMA}, without a gain}
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1
   */
  public static Builder llama(int width) {
    return builder(NormSpec.LLAMA, width);
  }

  /**
   * {@return a builder of the norm {@link NormSpec#GEMMA}, without a gain}
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1
   */
  public static Builder gemma(int width) {
    return builder(NormSpec.GEMMA, width);
  }

  /**
   * {@return a builder of the norm {@link NormSpec#T5}, without a gain}
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1
   */
  public static Builder t5(int width) {
    return builder(NormSpec.T5, width);
  }

  /**
   * {@return a builder of the norm {@link NormSpec#PAPER}, without a gain}
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1
   */
  public static Builder paper(int width) {
    return builder(NormSpec.PAPER, width);
  }

  /**
   * {@return a builder of the norm {@link NormSpec#PYTORCH}, without a gain}
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1
   */
  public static Builder pytorch(int width) {
    return builder(NormSpec.PYTORCH, width);
  }

  /**
   * {@return a builder of the norm {@link NormSpec#ONNX}, without a gain}
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1
   */
  public static Builder onnx(int width) {
    return builder(NormSpec.ONNX, width);
  }

  /**
   * Normalises rows and returns the rstd of each row, for a backward pass of your own. {@link
   * #apply(Rows, Rows, Saved)} keeps it for {@link #backward}.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes
   * @param rstd takes the rstd of each row: in float32 arithmetic a float32 value, or a float64
   *     value if the row is out of the range of float32. At least one element per row
   * @throws IllegalArgumentException if the shapes do not fit, or memory overlaps illegally
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void apply(Rows x, Rows y, double[] rstd) {
    new ForwardCall(this, x, y).keeping(null, rstd).run();
  }

  /** Collects the choices of an {@link RmsNorm}. */
  public static final class Builder extends NormBuilder<Builder> {
    private Builder(NormSpec spec, int width) {
      super(spec, NormSpec.Kind.RMS_NORM, width);
    }

    /**
     * Where the row is rounded between input and output.
     *
     * @param order {@link CastOrder#FLOAT32} by default
     * @return this
     */
    public Builder castOrder(CastOrder order) {
      return with(spec().withCastOrder(order));
    }

    /**
     * Partial RMSNorm (section 4 of the paper): the mean square comes from the first k elements.
     *
     * @param k how many elements, 1 to the width; the width by default
     * @return this
     * @throws IllegalArgumentException if it is anything else
     */
    public Builder part(int k) {
      if (k < 1 || k > width()) {
        throw new IllegalArgumentException(
            "part is " + k + ", it must be between 1 and the width, " + width());
      }
      return part(RowPart.of(k, width()));
    }

    /**
     * Partial RMSNorm: the mean square comes from a part of the row.
     *
     * @param part {@link RowPart#WHOLE} by default
     * @return this
     * @throws IllegalArgumentException if it leaves no element of a row
     */
    public Builder part(RowPart part) {
      part.elements(width());
      return with(spec().withPart(part));
    }

    /**
     * Partial RMSNorm as the paper defines it: the mean square comes from the first {@code
     * ceil(width * p)} elements. p counts as the decimal number that was written, so 0.07 of 100 is
     * 7.
     *
     * @param p above 0, at most 1; 0.0625 in the paper
     * @return this
     * @throws IllegalArgumentException if it is anything else
     */
    public Builder partial(double p) {
      return part(RowPart.of(p));
    }

    /**
     * Partial RMSNorm as the code published with the paper computes it: the mean square comes from
     * the first {@code (int) (width * p)} elements. The product is rounded to float64, so 0.29 of
     * 100 is 28.
     *
     * @param p above 0, at most 1, and such that {@code width * p} is at least 1
     * @return this
     * @throws IllegalArgumentException if it is anything else
     */
    public Builder partialRoundedDown(double p) {
      return part(RowPart.of(p).down());
    }

    /**
     * {@return an immutable norm with the choices made so far}
     *
     * @throws IllegalArgumentException if two choices exclude each other: a bias and a cast order
     *     other than FLOAT32, or a gain offset and cast order T5
     */
    @Override
    public RmsNorm build() {
      return new RmsNorm(this);
    }
  }
}
