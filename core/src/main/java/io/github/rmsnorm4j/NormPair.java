package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.norm.SandwichRunner;
import java.lang.ref.Reference;

/**
 * Two norms around the addition to a residual.
 *
 * @param first whose output is added
 * @param next which normalises the sum
 */
record NormPair(Norm first, Norm next) {
  NormPair {
    NormArguments.requireNonNull(next, "next");
    if (next.width() != first.width()) {
      throw new IllegalArgumentException(
          "next is " + next.width() + " wide, the norm is " + first.width() + " wide");
    }
    requireNoGate(first, "the norm");
    requireNoGate(next, "next");
  }

  private static void requireNoGate(Norm norm, String name) {
    if (norm.spec().gate() != Gate.NONE) {
      throw new IllegalArgumentException(
          name + " has the gate " + norm.spec().gate() + ", for applyAndAdd it must have none");
    }
  }

  /** A call that keeps nothing. */
  void apply(Rows x, Rows residual, Rows y) {
    NormArguments.requireNonNull(residual, "residual");
    next.check(x, residual, null, null, y, null, null);
    run(x, residual, y, null, null);
  }

  /** A call that keeps what the backward passes of both norms need. */
  void apply(Rows x, Rows residual, Rows y, Saved saved, Saved savedOfNext) {
    if (NormArguments.requireNonNull(saved, "saved") == savedOfNext) {
      throw new IllegalArgumentException(
          "saved and savedOfNext are one object: each needs its own");
    }
    if (saved.keep() == Keep.OUTPUT) {
      throw new IllegalArgumentException(
          "saved keeps the output, which is not stored: it must keep the input or nothing");
    }
    NormArguments.requireNonNull(residual, "residual");
    first.requireTraining(x, null, residual, null, null, y, saved, "saved");
    next.requireTraining(x, residual, null, null, null, y, savedOfNext, "savedOfNext");
    saved.begin(first, first.groups, first.spec().isCentred());
    savedOfNext.begin(next, next.groups, next.spec().isCentred());
    run(x, residual, y, saved, savedOfNext);
    saved.end(x, null, null, null);
    savedOfNext.end(savedOfNext.keep() == Keep.OUTPUT ? y : residual, null, null, null);
  }

  /** Relies on the checks. */
  private void run(Rows x, Rows residual, Rows y, Saved saved, Saved savedOfNext) {
    if (x.rows() == 0) {
      return;
    }
    RowMemory output = next.memory.of(y, next.groups);
    try (Call call = first.forwardCall(x, null, null, saved);
        Call nextCall = next.forwardCall(x, residual, output, savedOfNext)) {
      boolean shared = CallMemory.isShared(call.rows()) && CallMemory.isShared(nextCall.rows());
      SandwichRunner.run(
          new SandwichRunner.Part(call, first.plans, first.groups),
          new SandwichRunner.Part(nextCall, next.plans, next.groups),
          x.rows(),
          shared ? Math.min(first.threads, next.threads) : 1,
          () -> first.backend().machineBits() > 0 && next.backend().machineBits() > 0);
    } finally {
      Reference.reachabilityFence(x);
      Reference.reachabilityFence(residual);
      Reference.reachabilityFence(y);
    }
  }
}
