package io.github.rmsnorm4j.internal.formula;

import java.util.List;

/**
 * A part of a forward pass without a residual and a gate.
 *
 * @param whole the pass; its gain and bias are used only by the output
 */
public record ForwardPhase(ForwardFormula whole, Phase phase) implements Formula {
  /** The parts. */
  public enum Phase {
    /** The row sums of elements, without any that is subtracted first. */
    SUMS,
    /** Mean, root and rstd. */
    STATISTIC,
    /** The output, where mean and rstd are given. */
    OUTPUT
  }

  private static final List<Tensor> INPUT = List.of(Forward.X);

  @Override
  public List<Tensor> rows() {
    return phase == Phase.OUTPUT ? whole.rows() : INPUT;
  }

  @Override
  public Tensor output() {
    return whole.output();
  }

  @Override
  public Program program(Storage storage, int width, int part, boolean inPlace) {
    Forward forward = new Forward(storage, whole, false);
    return switch (phase) {
      case SUMS -> forward.sumsAlone();
      case STATISTIC -> forward.statisticAlone(width);
      case OUTPUT -> forward.outputAlone();
    };
  }
}
