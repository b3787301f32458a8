package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import io.github.rmsnorm4j.internal.norm.SandwichRunner;
import java.lang.ref.Reference;

/**
 * Two norms around the addition to a residual, as operands of one call.
 *
 * @param first whose output is added; its residual is not an operand of its own
 * @param next which normalises the sum
 */
record NormPair(ForwardCall first, ForwardCall next) {
  static NormPair of(Norm first, Rows x, Rows residual, Norm next, Rows y) {
    requireFit(first, next);
    return new NormPair(new ForwardCall(first, x, y), new ForwardCall(next, x, y).adding(residual));
  }

  /** Refuses two norms that are no pair. */
  static void requireFit(Norm first, Norm next) {
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

  /** The residual is not written over the gain or bias of the first norm. */
  void check() {
    CallOperands.requireApart(CallOperand.RESIDUAL, next.residual, CallOperand.GAIN, first.gain);
    CallOperands.requireApart(CallOperand.RESIDUAL, next.residual, CallOperand.BIAS, first.bias);
  }

  /** A call that keeps nothing. */
  void run() {
    check();
    ForwardArguments.check(first);
    ForwardArguments.check(next);
    compute();
  }

  /** A call that keeps what the backward passes of both norms need. */
  void keep(Saved saved, Saved savedOfNext) {
    if (NormArguments.requireNonNull(saved, "saved") == savedOfNext) {
      throw new IllegalArgumentException(
          "saved and savedOfNext are one object: each needs its own");
    }
    requireKept(saved.keep());
    check();
    ForwardArguments.checkKept(first, saved, "saved", false);
    ForwardArguments.checkKept(next, savedOfNext, "savedOfNext", true);
    ForwardArguments.requireApart(first.norm, saved, next);
    ForwardArguments.requireApart(next.norm, savedOfNext, first);
    first.begin(saved);
    next.begin(savedOfNext);
    compute();
    first.end(saved);
    next.end(savedOfNext);
  }

  /** Refuses to keep the output of the first norm. */
  static void requireKept(Keep keep) {
    if (keep == Keep.OUTPUT) {
      throw new IllegalArgumentException(
          "saved keeps the output, which is not stored: it must keep the input or nothing");
    }
  }

  /** Relies on the checks. */
  private void compute() {
    if (next.x.rows() == 0) {
      return;
    }
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(first.isOfAnyThread() && next.isOfAnyThread(), this::compute)) {
      return;
    }
    BackEndParts parts = first.norm.backEndParts();
    BackEndParts partsOfNext = next.norm.backEndParts();
    Staging staging = first.staging();
    Staging stagingOfNext = next.staging();
    try (Call call = first.call(null, staging);
        Call nextCall = next.call(next.output(partsOfNext), stagingOfNext)) {
      boolean shared = CallMemory.isShared(call.rows()) && CallMemory.isShared(nextCall.rows());
      SandwichRunner.run(
          new SandwichRunner.Part(call, parts.plans, first.norm.groups),
          new SandwichRunner.Part(nextCall, partsOfNext.plans, next.norm.groups),
          next.x.rows(),
          shared ? Math.min(first.norm.threads, next.norm.threads) : 1);
    } finally {
      ForwardCall.giveBack(staging);
      ForwardCall.giveBack(stagingOfNext);
      Reference.reachabilityFence(this);
    }
  }
}
