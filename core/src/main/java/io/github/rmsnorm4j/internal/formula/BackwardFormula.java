package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.NormSpec;
import java.util.List;

/**
 * A backward pass.
 *
 * @param spec the choices of the norm
 * @param fromOutput whether the rows that were kept are the output
 * @param keptStatistic whether mean and rstd were kept
 * @param gain whether there is a gain
 * @param bias whether the output has a bias; used only with the output
 * @param gainGradient whether the gradient of the gain is wanted
 * @param biasGradient whether the gradient of the bias is wanted
 */
public record BackwardFormula(
    NormSpec spec,
    boolean fromOutput,
    boolean keptStatistic,
    boolean gain,
    boolean bias,
    boolean gainGradient,
    boolean biasGradient)
    implements Formula {
  private static final List<Tensor> ROWS =
      List.of(
          Forward.X,
          Forward.RESIDUAL,
          Backward.DY,
          Backward.DX,
          Forward.Z,
          Backward.DZ,
          Forward.GAIN_OF_GROUPS,
          Forward.BIAS_OF_GROUPS,
          Backward.GAIN_GRADIENT_OF_GROUPS,
          Backward.BIAS_GRADIENT_OF_GROUPS);

  @Override
  public List<Tensor> rows() {
    return ROWS;
  }

  @Override
  public Tensor output() {
    return Backward.DX;
  }

  @Override
  public Program program(Storage storage, int width, int part, boolean inPlace) {
    return new Backward(storage, this, false).program(width, part);
  }
}
