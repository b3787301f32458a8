package io.github.rmsnorm4j;

import org.jspecify.annotations.Nullable;

/**
 * L2 norm: divides each row by its length, the square root of the sum of its squares.
 *
 * <pre>y_i = x_i * rstd * g_i + b_i,    rstd = 1 / max( sqrt(x_1^2 + ... + x_n^2), epsilon )</pre>
 *
 * <p>{@code torch.nn.functional.normalize(x, dim=-1)} computes this for embeddings that are
 * compared by their dot product. The queries and keys of Gated DeltaNet and of Kimi Delta Attention
 * have epsilon inside the root: {@code 1 / sqrt(x_1^2 + ... + x_n^2 + 1e-6)}. RMSNorm divides by
 * the root of the mean of the squares instead, so its rows are sqrt(n) times as long.
 *
 * <pre>{@code
 * L2Norm norm = Norm.l2(768).build();
 * norm.apply(x, y);
 *
 * L2Norm ofKeys = Norm.l2(128).epsilon(1e-6).epsilonPlacement(EpsilonPlacement.INSIDE).build();
 * }</pre>
 *
 * <p><b>Accuracy.</b> The bound is that of {@link RmsNorm}. The length of a finite float32 row
 * never overflows or underflows. A row of zeros gives zeros, or the bias, also if the floor is 0:
 * then its rstd is 0 ({@link NormSpec#UNIT}). With an epsilon of 0 inside or outside the root it
 * gives NaN.
 */
public final class L2Norm extends Norm {
  /** The epsilon of {@link #builder}: 1e-12, as in PyTorch. */
  public static final double DEFAULT_EPSILON = 1e-12;

  private L2Norm(Builder builder) {
    super(builder);
  }

  private L2Norm(L2Norm norm, @Nullable Rows gain, @Nullable Rows bias) {
    super(norm, gain, bias);
  }

  @Override
  L2Norm view(@Nullable Rows gain, @Nullable Rows bias) {
    return new L2Norm(this, gain, bias);
  }

  /**
   * {@return a builder of an L2 norm of given choices, without gain and bias}
   *
   * @param spec the choices
   * @param width elements per row
   * @throws IllegalArgumentException if the spec is of another kind, or the width is below 1
   */
  public static Builder builder(NormSpec spec, int width) {
    return new Builder(spec, width);
  }

  /**
   * {@return a builder of an L2 norm without gain and bias, with the floor {@value
   * #DEFAULT_EPSILON}: {@link NormSpec#L2}}
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1
   */
  public static Builder builder(int width) {
    return builder(NormSpec.L2, width);
  }

  /**
   * Normalises rows and returns the length of each row.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes
   * @param length takes {@code sqrt(x_1^2 + ... + x_n^2)} of each row in float64, without epsilon;
   *     at least one element per row
   * @throws IllegalArgumentException if the shapes do not fit, or memory overlaps illegally
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void apply(Rows x, Rows y, double[] length) {
    new ForwardCall(this, x, y).keeping(length, null).run();
  }

  /** Collects the choices of an {@link L2Norm}. */
  public static final class Builder extends NormBuilder<Builder> {
    private Builder(NormSpec spec, int width) {
      super(spec, NormSpec.Kind.L2_NORM, width);
    }

    /** {@return an immutable norm with the choices made so far} */
    @Override
    public L2Norm build() {
      return new L2Norm(this);
    }
  }
}
