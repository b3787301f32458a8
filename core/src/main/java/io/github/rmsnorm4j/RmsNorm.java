package io.github.rmsnorm4j;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * RMSNorm: every row divided by its root mean square, no mean taken off.
 *
 * <pre>y_i = x_i * rstd * g_i + b_i,    rstd = 1 / sqrt( (x_1^2 + ... + x_k^2) / k + epsilon )
 * </pre>
 *
 * <p>Zhang and Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019, formula (4), with
 * epsilon inside the root as every framework has it. Gain g and bias b are optional; language
 * models use a gain and no bias. k is the width n, and less than that for partial RMSNorm ({@link
 * Builder#part}).
 *
 * <pre>{@code
 * RmsNorm norm = RmsNorm.builder(4096).epsilon(1e-6).gain(weights).build();
 * norm.apply(x, y);
 *
 * RmsNorm gemma = RmsNorm.gemma(2048).gain(weights).build();
 * }</pre>
 *
 * <p>Float32 rows: each element is within three roundings of the exact result, {@code |y - exact|
 * <= 3.01 * 2^-24 * |x * rstd * g| + 2^-149 * (1 + |g|)}, for every finite row; with a bias within
 * four, and |b| added to what they multiply. A row of zeros gives the bias, and NaN where epsilon
 * is 0. Elements outside the part of a partial norm overflow where x * rstd does, and their row's
 * gradient with them. Where a cast order rounds on the way, that rounding comes on top.
 */
public final class RmsNorm extends Norm {
  /** What {@link #builder} starts with: 1e-6, the default of Hugging Face's models and of Keras. */
  public static final double DEFAULT_EPSILON = 1e-6;

  /** PyTorch's for {@code eps=None} and float16, bfloat16 or float32 rows: 2^-23, 1.19e-7. */
  public static final double PYTORCH_EPSILON = 0x1p-23;

  /** PyTorch's for {@code eps=None} and float64 rows: 2^-52, 2.22e-16. */
  public static final double PYTORCH_FLOAT64_EPSILON = 0x1p-52;

  /** ONNX's, TransformerEngine's and that of many Llama checkpoints: 1e-5. */
  public static final double ONNX_EPSILON = 1e-5;

  /** That of the code published with the paper, which adds it outside the root: 1e-8. */
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
   * normalised row is rounded to its type before it meets the gain; epsilon is 1e-6.
   *
   * @param width elements per row
   * @return a builder, which lacks the gain
   */
  public static Builder llama(int width) {
    return builder(width).castOrder(CastOrder.LLAMA);
  }

  /**
   * Begins the norm of Gemma 1 to 3: GemmaRMSNorm of Hugging Face's transformers. The gain is
   * stored less 1 and the 1 is added in float32; rounded once, at the end; epsilon is 1e-6.
   *
   * @param width elements per row
   * @return a builder, which lacks the gain
   */
  public static Builder gemma(int width) {
    return builder(width).gainOffset(1);
  }

  /**
   * Begins the norm of T5: T5LayerNorm of Hugging Face's transformers, which is an RMSNorm. The
   * normalised row is rounded to the gain's type; epsilon is 1e-6.
   *
   * @param width elements per row
   * @return a builder, which lacks the gain
   */
  public static Builder t5(int width) {
    return builder(width).castOrder(CastOrder.T5);
  }

  /**
   * Begins the norm of the code published with the paper (bzhangGo/rmsnorm, rmsnorm_torch.py):
   * epsilon 1e-8, outside the root.
   *
   * @param width elements per row
   * @return a builder, which lacks the gain
   */
  public static Builder paper(int width) {
    return builder(width).epsilon(PAPER_EPSILON).epsilonPlacement(EpsilonPlacement.OUTSIDE);
  }

  /**
   * Begins torch.nn.RMSNorm with {@code eps=None}: {@link #PYTORCH_EPSILON}, or {@link
   * #PYTORCH_FLOAT64_EPSILON} for float64 rows; rounded once, at the end.
   *
   * @param width elements per row
   * @param input the type of the rows that it will be given
   * @return a builder, which lacks the gain
   */
  public static Builder pytorch(int width, ElementType input) {
    boolean float64 = NormArguments.requireNonNull(input, "input") == ElementType.FLOAT64;
    return builder(width).epsilon(float64 ? PYTORCH_FLOAT64_EPSILON : PYTORCH_EPSILON);
  }

  /**
   * Begins ONNX's RMSNormalization-23 with the stash type float32: divided by the root, and rounded
   * to the row's type before it meets the scale; epsilon is 1e-5.
   *
   * @param width elements per row
   * @return a builder, which lacks the gain
   */
  public static Builder onnx(int width) {
    return builder(width).epsilon(ONNX_EPSILON).castOrder(CastOrder.ONNX);
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
    run(x, null, null, null, y, null, rstd);
  }

  /** Collects what an {@link RmsNorm} is made of. */
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
     * Where the row is rounded on its way to the output.
     *
     * @param order {@link CastOrder#FLOAT32} by default
     * @return this
     */
    public Builder castOrder(CastOrder order) {
      this.order = NormArguments.requireNonNull(order, "order");
      return this;
    }

    /**
     * Partial RMSNorm (section 4 of the paper): the mean square is that of the first elements only.
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
     * Partial RMSNorm as the paper defines it: of the first {@code ceil(width * p)} elements, of
     * the decimal number that p was written as, so that 0.07 of 100 is 7.
     *
     * @param p above 0, at most 1; the paper's is 0.0625
     * @return this
     * @throws IllegalArgumentException if it is anything else
     */
    public Builder partial(double p) {
      requireShare(p);
      BigDecimal share = BigDecimal.valueOf(p).multiply(BigDecimal.valueOf(width()));
      return part(share.setScale(0, RoundingMode.CEILING).intValueExact());
    }

    /**
     * Partial RMSNorm as the code published with the paper has it: of the first {@code (int) (width
     * * p)} elements, multiplied in float64, so that 0.29 of 100 is 28.
     *
     * @param p above 0, at most 1, and such that at least one element is left
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
     * The norm.
     *
     * @return an immutable norm of what has been chosen so far
     * @throws IllegalArgumentException if choices do not go together: a bias with a cast order
     *     other than FLOAT32, or a gain offset with that of T5
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
