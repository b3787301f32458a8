package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.Payoff;
import org.jspecify.annotations.Nullable;

/**
 * The first tier of a norm. It is the type of the norm's field, too: to verify a field of the
 * superclass, the JVM would load both classes for a norm that has no first tier.
 */
final class NormFirstTier extends FirstTier {
  private final Norm norm;

  /** Counts elements for itself, unless that is null. */
  NormFirstTier(Norm norm, @Nullable Payoff payoff) {
    super(
        norm.spec(),
        norm.width(),
        norm.gain == null ? null : norm.gain.floats(),
        norm.bias == null ? null : norm.bias.floats(),
        norm.threads,
        payoff);
    this.norm = norm;
  }

  /**
   * Checks and does a call, if it is one for the first tier. Calls that stay here have no object
   * with their operands.
   */
  boolean serves(Rows x, @Nullable Rows residual, Rows y) {
    if (x == null || y == null || !isFit(x, residual, y) || !isInJavasState()) {
      return false;
    }
    CallOperands.check(norm.width(), x, residual, y);
    if (!apply(x, residual, y) && !computeByKernels(x, residual, y)) {
      applyAll(x, residual, y);
    }
    return true;
  }

  @Override
  protected Backend backend() {
    return norm.backend();
  }

  @Override
  protected boolean makeKernels(boolean ofNative, boolean adds) {
    Payoff.forward(norm.spec().kind()).end();
    return new Rehearsal(norm.width(), ofNative, adds).run(this::computeByKernels);
  }

  private boolean computeByKernels(Rows x, @Nullable Rows residual, Rows y) {
    ForwardCall call = new ForwardCall(norm, x, y);
    return (residual == null ? call : call.adding(residual)).computeByKernels();
  }
}
