package io.github.rmsnorm4j.models.transformer;

import static io.github.rmsnorm4j.models.internal.Requirement.require;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;

/** Collects what a {@link ModelConfig} is made of. */
public final class ModelConfigBuilder {
  private final int vocabulary;
  private final int width;
  private final int layers;
  private final int heads;
  private int keyValueHeads;
  private int headWidth;
  private int mlpWidth;
  private int maxPositions = 2048;
  private double ropeTheta = 10_000;
  private boolean tied = true;
  private NormSpec norm = NormSpec.RMSNORM;
  private Placement placement = Placement.PRE;
  private boolean queryKeyNorm;
  private Gate headGate = Gate.NONE;
  private double initialRange = 0.02;
  private BlockForm form = BlockForm.LLAMA;

  ModelConfigBuilder(int vocabulary, int width, int layers, int heads) {
    this.vocabulary = vocabulary;
    this.width = width;
    this.layers = layers;
    this.heads = heads;
    keyValueHeads = heads;
  }

  /**
   * Sets how many key and value heads the query heads share.
   *
   * @param keyValueHeads divides the heads; as many as heads by default
   * @return this
   */
  public ModelConfigBuilder keyValueHeads(int keyValueHeads) {
    this.keyValueHeads = keyValueHeads;
    return this;
  }

  /**
   * Sets the elements of a head.
   *
   * @param headWidth even; width / heads by default
   * @return this
   */
  public ModelConfigBuilder headWidth(int headWidth) {
    this.headWidth = headWidth;
    return this;
  }

  /**
   * Sets the elements between the MLP's projections.
   *
   * @param mlpWidth 8/3 of the width by default, rounded up to a multiple of 16, so that three
   *     matrices are as large as two of four times the width
   * @return this
   */
  public ModelConfigBuilder mlpWidth(int mlpWidth) {
    this.mlpWidth = mlpWidth;
    return this;
  }

  /**
   * Sets the longest sequence the model is meant for.
   *
   * @param maxPositions 2048 by default
   * @return this
   */
  public ModelConfigBuilder maxPositions(int maxPositions) {
    this.maxPositions = maxPositions;
    return this;
  }

  /**
   * Sets the base of the rotary positions' wavelengths.
   *
   * @param ropeTheta 10000 by default
   * @return this
   */
  public ModelConfigBuilder ropeTheta(double ropeTheta) {
    this.ropeTheta = ropeTheta;
    return this;
  }

  /**
   * Sets whether the output head is the embedding.
   *
   * @param tied true by default
   * @return this
   */
  public ModelConfigBuilder tied(boolean tied) {
    this.tied = tied;
    return this;
  }

  /**
   * Sets the norm.
   *
   * @param norm {@link NormSpec#RMSNORM} by default, null for none
   * @return this
   */
  public ModelConfigBuilder norm(NormSpec norm) {
    this.norm = norm;
    return this;
  }

  /**
   * Sets where blocks have norms.
   *
   * @param placement {@link Placement#PRE} by default
   * @return this
   */
  public ModelConfigBuilder placement(Placement placement) {
    this.placement = placement;
    return this;
  }

  /**
   * Sets whether query and key heads are normalised.
   *
   * @param queryKeyNorm false by default
   * @return this
   */
  public ModelConfigBuilder queryKeyNorm(boolean queryKeyNorm) {
    this.queryKeyNorm = queryKeyNorm;
    return this;
  }

  /**
   * Sets whether the output of each attention head is normalised and gated before the output
   * projection.
   *
   * @param headGate which gate; {@link Gate#NONE} by default, for neither norm nor gate
   * @return this
   */
  public ModelConfigBuilder headGate(Gate headGate) {
    this.headGate = headGate;
    return this;
  }

  /**
   * Sets the standard deviation of initial matrices and embeddings.
   *
   * @param initialRange 0.02 by default
   * @return this
   */
  public ModelConfigBuilder initialRange(double initialRange) {
    this.initialRange = initialRange;
    return this;
  }

  /**
   * Sets what the blocks are made of, apart from their norms.
   *
   * @param form {@link BlockForm#LLAMA} by default, the only one with a backward pass
   * @return this
   */
  public ModelConfigBuilder form(BlockForm form) {
    this.form = form;
    return this;
  }

  /**
   * {@return the config that has been chosen so far}
   *
   * @throws IllegalArgumentException if it is no model
   */
  public ModelConfig build() {
    require(
        headWidth != 0 || heads >= 1 && width % heads == 0,
        "heads",
        heads,
        "divide the width, " + width + ", or headWidth be set");
    return new ModelConfig(
        vocabulary,
        width,
        layers,
        heads,
        keyValueHeads,
        headWidth == 0 ? width / heads : headWidth,
        mlpWidth == 0 ? (int) (Math.ceilDiv(8L * width, 3 * 16) * 16) : mlpWidth,
        maxPositions,
        ropeTheta,
        tied,
        norm,
        placement,
        queryKeyNorm,
        headGate,
        initialRange,
        form);
  }
}
