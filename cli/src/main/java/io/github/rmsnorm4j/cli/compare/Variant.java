package io.github.rmsnorm4j.cli.compare;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;

/** What is compared: each norm as eager code runs it, and fused. */
public enum Variant {
  /** LayerNorm, one pass over memory per operation. */
  LAYER_NAIVE("LayerNorm naive", false, false),
  /** This library's LayerNorm. */
  LAYER_FUSED("LayerNorm fused", false, true),
  /** RMSNorm, one pass over memory per operation. */
  RMS_NAIVE("RMSNorm naive", true, false),
  /** This library's RMSNorm. */
  RMS_FUSED("RMSNorm fused", true, true);

  private final String label;
  private final boolean rms;
  private final boolean fused;

  Variant(String label, boolean rms, boolean fused) {
    this.label = label;
    this.rms = rms;
    this.fused = fused;
  }

  /**
   * Which norm.
   *
   * @return whether it is RMSNorm, not LayerNorm
   */
  public boolean isRms() {
    return rms;
  }

  /**
   * How it is run.
   *
   * @return whether it is one pass, not one per operation
   */
  public boolean isFused() {
    return fused;
  }

  /** What keeps the root from 0, the same in both forms. */
  double epsilon() {
    return rms ? RmsNorm.DEFAULT_EPSILON : LayerNorm.DEFAULT_EPSILON;
  }

  /** Elements of the gain and, for LayerNorm, the bias. */
  long parameters(int width) {
    return rms ? width : 2L * width;
  }

  /** The library's norm of this kind. */
  Norm norm(float[] gain, float[] bias, int threads, Backend backend) {
    if (rms) {
      return RmsNorm.builder(gain.length).gain(gain).threads(threads).backend(backend).build();
    }
    return LayerNorm.builder(gain.length)
        .gain(gain)
        .bias(bias)
        .threads(threads)
        .backend(backend)
        .build();
  }

  /** For example {@code RMSNorm naive}. */
  @Override
  public String toString() {
    return label;
  }
}
