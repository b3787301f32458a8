package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowPart;

/** The norms that are compared, under the names that kept results have for them. */
public enum TrainedNorm {
  /** LayerNorm, with the epsilon of the others. */
  LAYER_NORM("LayerNorm", NormSpec.LAYERNORM.withEpsilon(NormSpec.RMSNORM.epsilon().getAsDouble())),
  /** RMSNorm. */
  RMS_NORM("RMSNorm", NormSpec.RMSNORM),
  /** The partial RMSNorm of the paper. */
  PARTIAL_RMS_NORM("pRMSNorm", NormSpec.RMSNORM.withPart(RowPart.of(1, 16))),
  /** No norm. */
  NONE("norm-free", null);

  /** As a reader knows it. */
  final String title;

  /** Null for none. */
  final NormSpec spec;

  TrainedNorm(String title, NormSpec spec) {
    this.title = title;
    this.spec = spec;
  }
}
