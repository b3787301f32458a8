package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.transformer.StepTimes.Part;

/**
 * Half a block: the attention or the MLP, f, with its residual connection and its norms. Without
 * norms it is {@code y = x + f(x)} in every placement.
 */
final class SubLayer {
  private final Inner inner;
  private final Part part;
  private final StepTimes times;

  private final NormedInput input;

  /** Null where there is none. */
  private final NormLayer normAfter;

  private final boolean residualInNorm;

  /** (N, d): what the norm behind f is given; null where there is none. */
  private final Matrix normInput;

  /** (N, d). */
  private final Matrix y;

  SubLayer(Setup setup, Inner inner, Part part, NormedInput input, NormLayer normAfter) {
    this.inner = inner;
    this.part = part;
    this.input = input;
    this.normAfter = normAfter;
    times = setup.times();
    residualInNorm = setup.config().placement() == Placement.POST;
    int d = setup.config().width();
    normInput = normAfter == null ? null : setup.allocate(setup.rows(), d);
    y = setup.allocate(setup.rows(), d);
  }

  /** What f is given; it must take x before the forward pass. */
  NormedInput input() {
    return input;
  }

  /**
   * x (N, d) to y (N, d); x must stay as it is until the backward pass.
   *
   * @param next takes y
   */
  Matrix forward(Matrix x, NormedInput next) {
    if (normAfter == null) {
      y.copyFrom(x);
      runInner(y, true);
      next.take(y);
    } else if (residualInNorm) {
      normInput.copyFrom(x);
      runInner(normInput, true);
      normAfter.forward(normInput, y);
      next.take(y);
    } else {
      runInner(normInput, false);
      next.takeSum(x, normAfter, normInput, y);
    }
    return y;
  }

  /** Adds {@code f(norm(x))} to the result of the other half of a parallel block. */
  void addTo(Matrix other) {
    runInner(other, true);
  }

  /** The residual is added by the last product of f, which is free, where no norm is between. */
  private void runInner(Matrix to, boolean add) {
    Part before = times.switchTo(part);
    inner.forward(input.get(), to, add);
    times.switchTo(before);
  }

  /** From the gradient of y that of x, in place. */
  void backward(Matrix d, Scratch scratch) {
    Matrix branch = d;
    if (normAfter != null && residualInNorm) {
      normAfter.backward(d, d);
    } else if (normAfter != null) {
      branch = scratch.dbranch;
      normAfter.backward(d, branch);
    }
    if (input.norm == null) {
      runInnerBackward(branch, d, true, scratch);
    } else {
      runInnerBackward(branch, scratch.dbranch, false, scratch);
      input.norm.backward(scratch.dbranch, d, d);
    }
  }

  private void runInnerBackward(Matrix dy, Matrix dx, boolean add, Scratch scratch) {
    Part before = times.switchTo(part);
    inner.backward(input.get(), dy, dx, add, scratch);
    times.switchTo(before);
  }
}
