package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;

/** What is compared: each norm as eager code runs it, and fused. */
public enum Variant {
  /** LayerNorm, one pass over memory per operation. */
  LAYER_NAIVE("LayerNorm naive", NormSpec.LAYERNORM, false),
  /** This library's LayerNorm. */
  LAYER_FUSED("LayerNorm fused", NormSpec.LAYERNORM, true),
  /** RMSNorm, one pass over memory per operation. */
  RMS_NAIVE("RMSNorm naive", NormSpec.RMSNORM, false),
  /** This library's RMSNorm. */
  RMS_FUSED("RMSNorm fused", NormSpec.RMSNORM, true);

  private final String label;
  private final NormSpec spec;
  private final boolean fused;

  Variant(String label, NormSpec spec, boolean fused) {
    this.label = label;
    this.spec = spec;
    this.fused = fused;
  }

  /** Whether it is RMSNorm, not LayerNorm. */
  public boolean isRms() {
    return spec.kind() == NormSpec.Kind.RMS_NORM;
  }

  /** Place of its norm's color in the palette of charts, as in the explainer. */
  int color() {
    return isRms() ? 0 : 1;
  }

  /** Whether it is one pass, not one per operation. */
  public boolean isFused() {
    return fused;
  }

  /** The epsilon, the same in both forms. */
  double epsilon() {
    return spec.epsilon().getAsDouble();
  }

  /** Elements of the gain and, for LayerNorm, the bias. */
  long parameters(int width) {
    return isRms() ? width : 2L * width;
  }

  /** The library's norm of this kind. */
  Norm norm(float[] gain, float[] bias, int threads, Backend backend) {
    NormBuilder<?> builder = spec.builder(gain.length).gain(gain);
    if (!isRms()) {
      builder.bias(bias);
    }
    return builder.threads(threads).backend(backend).build();
  }

  /** For example {@code RMSNorm naive}. */
  @Override
  public String toString() {
    return label;
  }
}
