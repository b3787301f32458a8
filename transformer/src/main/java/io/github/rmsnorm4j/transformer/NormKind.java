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
  Norm build(Setup setup) {
    int width = setup.config().width();
    return switch (this) {
      case LAYER_NORM -> with(setup, LayerNorm.builder(width)).build();
      case RMS_NORM -> rmsNorm(setup).build();
      case PARTIAL_RMS_NORM -> rmsNorm(setup).partial(setup.config().normShare()).build();
      case NONE -> throw new IllegalStateException("there is no norm to build");
    };
  }

  private static RmsNorm.Builder rmsNorm(Setup setup) {
    RmsNorm.Builder builder = RmsNorm.builder(setup.config().width());
    return with(setup, builder.castOrder(setup.arithmetic().castOrder()));
  }

  private static <B extends Norm.Builder<B>> B with(Setup setup, B builder) {
    return builder
        .epsilon(setup.config().normEpsilon())
        .threads(setup.threads())
        .backend(setup.arithmetic().backend());
  }
}
