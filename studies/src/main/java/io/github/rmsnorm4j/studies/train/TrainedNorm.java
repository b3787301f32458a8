package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowPart;

/** The norms that are compared, under the names that kept results have for them. */
public enum TrainedNorm {
  /** LayerNorm, with the epsilon of the others. */
  LAYER_NORM(
      "LayerNorm", 1, NormSpec.LAYERNORM.withEpsilon(NormSpec.RMSNORM.epsilon().getAsDouble())),
  /** RMSNorm. */
  RMS_NORM("RMSNorm", 0, NormSpec.RMSNORM),
  /** The partial RMSNorm of the paper. */
  PARTIAL_RMS_NORM("pRMSNorm", 2, NormSpec.RMSNORM.withPart(RowPart.of(1, 16))),
  /** No norm. */
  NONE("norm-free", 3, null);

  /** As a reader knows it. */
  final String title;

  /**
   * Place of its color in the palette of charts, which RMSNorm and LayerNorm share with the
   * explainer.
   */
  final int color;

  /** Null for none. */
  final NormSpec spec;

  TrainedNorm(String title, int color, NormSpec spec) {
    this.title = title;
    this.color = color;
    this.spec = spec;
  }
}
