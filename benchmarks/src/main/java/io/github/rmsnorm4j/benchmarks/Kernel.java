package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.reference.Definitions;

/** The two norms, with the parameters that models give them: a gain, and for LayerNorm a bias. */
public enum Kernel {
  /** With a gain. */
  RMS_NORM("RMSNorm"),
  /** With a gain and a bias. */
  LAYER_NORM("LayerNorm");

  private final String title;

  Kernel(String title) {
    this.title = title;
  }

  /** A norm that stays on the caller's thread. */
  Norm norm(double[] gain, double[] bias, boolean safe, Backend backend) {
    return switch (this) {
      case RMS_NORM -> finish(RmsNorm.builder(gain.length).gain(gain), safe, backend).build();
      case LAYER_NORM ->
          finish(LayerNorm.builder(gain.length).gain(gain).bias(bias), safe, backend).build();
    };
  }

  private static <B extends Norm.Builder<B>> B finish(B builder, boolean safe, Backend backend) {
    B norm = builder.threads(1).backend(backend);
    return safe ? norm.safe() : norm;
  }

  /**
   * Whether it has one.
   *
   * @return true for LayerNorm
   */
  public boolean hasBias() {
    return this == LAYER_NORM;
  }

  double[] reference(double[] x, double[] gain, double[] bias) {
    return switch (this) {
      case RMS_NORM -> Definitions.rmsNorm(x, gain, null, RmsNorm.DEFAULT_EPSILON);
      case LAYER_NORM -> Definitions.layerNorm(x, gain, bias, LayerNorm.DEFAULT_EPSILON);
    };
  }

  /** How many float32 roundings an element may be away from the exact answer, by the contract. */
  double roundings() {
    return this == RMS_NORM ? 3.01 : 5.01;
  }

  @Override
  public String toString() {
    return title;
  }
}
