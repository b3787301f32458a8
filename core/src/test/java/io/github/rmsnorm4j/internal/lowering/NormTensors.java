package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.List;

/** The tensors of the norms, forward and backward. */
final class NormTensors {
  static final List<Tensor> ROWS =
      List.of(Forward.X, Forward.RESIDUAL, Forward.Y, Backward.DY, Backward.DX);
  static final List<Tensor> COLUMNS =
      List.of(Forward.GAIN, Forward.BIAS, Backward.GAIN_GRADIENT, Backward.BIAS_GRADIENT);
  static final List<Tensor> OF_CALL = List.of(Forward.K, Forward.EPSILON, Forward.SCALE);

  private NormTensors() {}
}
