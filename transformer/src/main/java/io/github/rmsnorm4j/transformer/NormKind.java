package io.github.rmsnorm4j.transformer;

import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;

/** Which norm a model has where models have norms. */
public enum NormKind {
  /** LayerNorm with gain and bias. */
  LAYER_NORM,
  /** RMSNorm with a gain. */
  RMS_NORM,
  /** RMSNorm with a gain whose mean square is that of a share of each row. */
  PARTIAL_RMS_NORM,
  /** None: what a norm would be given goes on as it is. */
  NONE;

  boolean hasBias() {
    return this == LAYER_NORM;
  }

  /** The library's norm; gain and bias come with each call, since they change with each step. */
  Norm build(ModelConfig config, int threads) {
    int width = config.width();
    double epsilon = config.normEpsilon();
    return switch (this) {
      case LAYER_NORM -> LayerNorm.builder(width).epsilon(epsilon).threads(threads).build();
      case RMS_NORM -> RmsNorm.builder(width).epsilon(epsilon).threads(threads).build();
      case PARTIAL_RMS_NORM ->
          RmsNorm.builder(width)
              .epsilon(epsilon)
              .partial(config.normShare())
              .threads(threads)
              .build();
      case NONE -> throw new IllegalStateException("there is no norm to build");
    };
  }
}
