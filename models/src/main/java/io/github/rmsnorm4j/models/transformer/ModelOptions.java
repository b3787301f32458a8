package io.github.rmsnorm4j.models.transformer;

import static io.github.rmsnorm4j.models.internal.Requirement.require;

import io.github.rmsnorm4j.NormSpec;

/**
 * What a {@link ModelConfig} is made of until it is built: at first a Llama with tied embeddings.
 * Each field says what it is unless it is set.
 */
public final class ModelOptions {
  private final int vocabulary;
  private final int width;
  private final int layers;
  private final int heads;

  /** As many as heads. */
  public int keyValueHeads;

  /** The width divided by the heads. */
  public int headWidth;

  /**
   * 8/3 of the width, rounded up to a multiple of 16, so that three matrices are as large as two of
   * four times the width.
   */
  public int mlpWidth;

  /** 2048. */
  public int maxPositions = 2048;

  /** 10000. */
  public double ropeTheta = 10_000;

  /** True. */
  public boolean tied = true;

  /** An RMSNorm; null for none. */
  public NormSpec norm = NormSpec.RMSNORM;

  /** Before each half of a block. */
  public Placement placement = Placement.PRE;

  /** False. */
  public boolean queryKeyNorm;

  /** 0.02. */
  public double initialRange = 0.02;

  /** A Llama's, the only form with a backward pass. */
  public BlockForm form = BlockForm.LLAMA;

  ModelOptions(int vocabulary, int width, int layers, int heads) {
    this.vocabulary = vocabulary;
    this.width = width;
    this.layers = layers;
    this.heads = heads;
    keyValueHeads = heads;
    mlpWidth = (int) (Math.ceilDiv(8L * width, 3 * 16) * 16);
  }

  ModelConfig build() {
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
        mlpWidth,
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
