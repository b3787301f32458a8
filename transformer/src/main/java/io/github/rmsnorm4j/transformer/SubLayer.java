package io.github.rmsnorm4j.transformer;

import io.github.rmsnorm4j.transformer.StepTimes.Part;

/**
 * Half a block: the attention or the MLP, f, with its residual connection and its norms. Without
 * norms it is {@code y = x + f(x)} in every placement.
 */
final class SubLayer {
  private final Inner inner;
  private final Part part;
  private final StepTimes times;

  /** Null where there is none. */
  private final NormLayer normBefore;

  private final NormLayer normAfter;
  private final boolean residualInNorm;

  /** (N, d): what f is given; the input itself where no norm is before it. */
  private final Matrix innerInput;

  /** (N, d): what the norm behind f is given; null where there is none. */
  private final Matrix normInput;

  /** (N, d). */
  private final Matrix y;

  private Matrix x;

  SubLayer(Setup setup, Inner inner, Part part, NormLayer normBefore, NormLayer normAfter) {
    this.inner = inner;
    this.part = part;
    this.normBefore = normBefore;
    this.normAfter = normAfter;
    times = setup.times();
    residualInNorm = setup.config().placement() == Placement.POST;
    int d = setup.config().width();
    innerInput = normBefore == null ? null : setup.allocate(setup.rows(), d);
    normInput = normAfter == null ? null : setup.allocate(setup.rows(), d);
    y = setup.allocate(setup.rows(), d);
  }

  /** x (N, d) to y (N, d); x must stay as it is until the backward pass. */
  Matrix forward(Matrix x) {
    normalise(x);
    if (normAfter == null) {
      y.copyFrom(x);
      runInner(y, true);
    } else if (residualInNorm) {
      normInput.copyFrom(x);
      runInner(normInput, true);
      normAfter.forward(normInput, y);
    } else {
      runInner(normInput, false);
      normAfter.forward(normInput, y);
      y.add(x);
    }
    return y;
  }

  /** Adds {@code f(norm(x))} to the result of the other half of a parallel block. */
  void addTo(Matrix other, Matrix x) {
    normalise(x);
    runInner(other, true);
  }

  private void normalise(Matrix x) {
    this.x = x;
    if (normBefore != null) {
      normBefore.forward(x, innerInput);
    }
  }

  private Matrix innerInput() {
    return normBefore == null ? x : innerInput;
  }

  /** The residual is added by the last product of f, which is free, where no norm is between. */
  private void runInner(Matrix to, boolean add) {
    Part before = times.switchTo(part);
    inner.forward(innerInput(), to, add);
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
    if (normBefore == null) {
      runInnerBackward(branch, d, true, scratch);
    } else {
      runInnerBackward(branch, scratch.dbranch, false, scratch);
      normBefore.backward(scratch.dbranch, d, d);
    }
  }

  private void runInnerBackward(Matrix dy, Matrix dx, boolean add, Scratch scratch) {
    Part before = times.switchTo(part);
    inner.backward(innerInput(), dy, dx, add, scratch);
    times.switchTo(before);
  }
}
