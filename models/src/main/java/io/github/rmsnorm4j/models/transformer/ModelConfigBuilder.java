package io.github.rmsnorm4j.models.transformer;

import static io.github.rmsnorm4j.models.internal.Requirement.require;

import io.github.rmsnorm4j.NormSpec;

/** Collects what a {@link ModelConfig} is made of, whose components have the same names. */
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
   * {@return this builder}
   *
   * @param keyValueHeads as many as heads by default
   */
  public ModelConfigBuilder keyValueHeads(int keyValueHeads) {
    this.keyValueHeads = keyValueHeads;
    return this;
  }

  /**
   * {@return this builder}
   *
   * @param headWidth width / heads by default
   */
  public ModelConfigBuilder headWidth(int headWidth) {
    this.headWidth = headWidth;
    return this;
  }

  /**
   * {@return this builder}
   *
   * @param mlpWidth 8/3 of the width by default, rounded up to a multiple of 16, so that three
   *     matrices are as large as two of four times the width
   */
  public ModelConfigBuilder mlpWidth(int mlpWidth) {
    this.mlpWidth = mlpWidth;
    return this;
  }

  /**
   * {@return this builder}
   *
   * @param maxPositions 2048 by default
   */
  public ModelConfigBuilder maxPositions(int maxPositions) {
    this.maxPositions = maxPositions;
    return this;
  }

  /**
   * {@return this builder}
   *
   * @param ropeTheta 10000 by default
   */
  public ModelConfigBuilder ropeTheta(double ropeTheta) {
    this.ropeTheta = ropeTheta;
    return this;
  }

  /**
   * {@return this builder}
   *
   * @param tied true by default
   */
  public ModelConfigBuilder tied(boolean tied) {
    this.tied = tied;
    return this;
  }

  /**
   * {@return this builder}
   *
   * @param norm {@link NormSpec#RMSNORM} by default
   */
  public ModelConfigBuilder norm(NormSpec norm) {
    this.norm = norm;
    return this;
  }

  /**
   * {@return this builder}
   *
   * @param placement {@link Placement#PRE} by default
   */
  public ModelConfigBuilder placement(Placement placement) {
    this.placement = placement;
    return this;
  }

  /**
   * {@return this builder}
   *
   * @param queryKeyNorm false by default
   */
  public ModelConfigBuilder queryKeyNorm(boolean queryKeyNorm) {
    this.queryKeyNorm = queryKeyNorm;
    return this;
  }

  /**
   * {@return this builder}
   *
   * @param initialRange 0.02 by default
   */
  public ModelConfigBuilder initialRange(double initialRange) {
    this.initialRange = initialRange;
    return this;
  }

  /**
   * {@return this builder}
   *
   * @param form {@link BlockForm#LLAMA} by default, the only one with a backward pass
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
        initialRange,
        form);
  }
}
