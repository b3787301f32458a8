package io.github.rmsnorm4j;

import java.math.BigDecimal;
import java.math.RoundingMode;

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
 * bias it is 4.01 in place of 3.01, and |b| is added to the number that it multiplies. A cast order
 * adds its own rounding. A row of zeros gives the bias, or NaN if epsilon is 0.
 *
 * <p>Outside the part of a partial norm {@code x * rstd} may overflow, and then the gradient of the
 * row does too.
 */
public final class RmsNorm extends Norm {
  /** The epsilon of {@link #builder}: 1e-6, as in Hugging Face's models and Keras. */
  public static final double DEFAULT_EPSILON = 1e-6;

  /** The epsilon of PyTorch for {@code eps=None}, except for float64 rows: 2^-23 = 1.19e-7. */
  public static final double PYTORCH_EPSILON = 0x1p-23;

  /** The epsilon of PyTorch for {@code eps=None} and float64 rows: 2^-52 = 2.22e-16. */
  public static final double PYTORCH_FLOAT64_EPSILON = 0x1p-52;

  /** The epsilon of ONNX, TransformerEngine and many Llama checkpoints: 1e-5. */
  public static final double ONNX_EPSILON = 1e-5;

  /** The epsilon of the code published with the paper, which adds it outside the root: 1e-8. */
  public static final double PAPER_EPSILON = 1e-8;

  private RmsNorm(Builder builder) {
    super(builder, false, builder.part, builder.order);
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
   * Begins the norm of Llama, Qwen and Mistral: LlamaRMSNorm of Hugging Face's transformers. The
   * normalised row is rounded to the type of the input before it is multiplied by the gain. Epsilon
   * is 1e-6.
   *
   * @param width elements per row
   * @return a builder without a gain
   */
  public static Builder llama(int width) {
    return builder(width).castOrder(CastOrder.LLAMA);
  }

  /**
   * Begins the norm of Gemma 1 to 3: GemmaRMSNorm of Hugging Face's transformers. The checkpoint
   * stores the gain less 1; the norm adds 1 in float32. The result is rounded once, at the end.
   * Epsilon is 1e-6.
   *
   * @param width elements per row
   * @return a builder without a gain
   */
  public static Builder gemma(int width) {
    return builder(width).gainOffset(1);
  }

  /**
   * Begins the norm of T5: T5LayerNorm of Hugging Face's transformers, which is an RMSNorm. The
   * normalised row is rounded to the type of the gain if that has 16 bits. Epsilon is 1e-6.
   *
   * @param width elements per row
   * @return a builder without a gain
   */
  public static Builder t5(int width) {
    return builder(width).castOrder(CastOrder.T5);
  }

  /**
   * Begins the norm of the code published with the paper (bzhangGo/rmsnorm, rmsnorm_torch.py):
   * epsilon 1e-8, outside the root.
   *
   * @param width elements per row
   * @return a builder without a gain
   */
  public static Builder paper(int width) {
    return builder(width).epsilon(PAPER_EPSILON).epsilonPlacement(EpsilonPlacement.OUTSIDE);
  }

  /**
   * Begins the norm of torch.nn.RMSNorm with {@code eps=None}. Epsilon is {@link #PYTORCH_EPSILON},
   * or {@link #PYTORCH_FLOAT64_EPSILON} for float64 rows. The result is rounded once, at the end.
   *
   * @param width elements per row
   * @param input the type of the rows that the norm will normalise
   * @return a builder without a gain
   */
  public static Builder pytorch(int width, ElementType input) {
    boolean float64 = NormArguments.requireNonNull(input, "input") == ElementType.FLOAT64;
    return builder(width).epsilon(float64 ? PYTORCH_FLOAT64_EPSILON : PYTORCH_EPSILON);
  }

  /**
   * Begins the norm of ONNX's RMSNormalization-23 with the stash type float32. The row is divided
   * by the root, and rounded to its type before it is multiplied by the gain. Epsilon is 1e-5.
   *
   * @param width elements per row
   * @return a builder without a gain
   */
  public static Builder onnx(int width) {
    return builder(width).epsilon(ONNX_EPSILON).castOrder(CastOrder.ONNX);
  }

  /**
   * Normalises rows and returns the rstd of each row, for a backward pass of your own. {@link
   * #apply(Rows, Rows, Saved)} keeps it for {@link #backward}.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes
   * @param rstd takes the rstd of each row: in float32 arithmetic a float32 value, or a float64
   *     value if the row is out of the range of float32. At least one element per row
   * @throws IllegalArgumentException if the shapes do not fit, or memory overlaps as it may not
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void apply(Rows x, Rows y, double[] rstd) {
    run(x, null, null, null, y, null, rstd);
  }

  /** Collects the choices of an {@link RmsNorm}. */
  public static final class Builder extends Norm.Builder<Builder> {
    private CastOrder order = CastOrder.FLOAT32;
    private int part;

    private Builder(int width) {
      super(width, DEFAULT_EPSILON);
      part = width;
    }

    @Override
    Builder self() {
      return this;
    }

    /**
     * Where the row is rounded between input and output.
     *
     * @param order {@link CastOrder#FLOAT32} by default
     * @return this
     */
    public Builder castOrder(CastOrder order) {
      this.order = NormArguments.requireNonNull(order, "order");
      return this;
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
      part = k;
      return this;
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
      requireShare(p);
      BigDecimal share = BigDecimal.valueOf(p).multiply(BigDecimal.valueOf(width()));
      return part(share.setScale(0, RoundingMode.CEILING).intValueExact());
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
      requireShare(p);
      int k = (int) (width() * p);
      if (k == 0) {
        throw new IllegalArgumentException(
            "p is " + p + ", it must leave at least one of the " + width() + " elements of a row");
      }
      return part(k);
    }

    private static void requireShare(double p) {
      if (!(p > 0 && p <= 1)) {
        throw new IllegalArgumentException("p is " + p + ", it must be above 0 and at most 1");
      }
    }

    /**
     * Builds the norm.
     *
     * @return an immutable norm with the choices made so far
     * @throws IllegalArgumentException if two choices exclude each other: a bias and a cast order
     *     other than FLOAT32, or a gain offset and cast order T5
     */
    public RmsNorm build() {
      if (order == CastOrder.T5 && gainOffset() != 0) {
        throw new IllegalArgumentException(
            "gain offset is "
                + gainOffset()
                + ", it must be 0 with cast order T5: that rounds to the type of the gain as stored");
      }
      RmsNorm norm = new RmsNorm(this);
      norm.requireNoBias(hasBias());
      return norm;
    }
  }
}
