package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import io.github.rmsnorm4j.internal.norm.SandwichRunner;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * Two norms around the addition to a residual.
 *
 * @param first whose output is added
 * @param next which normalises the sum
 */
record NormPair(Half first, Half next) {
  /**
   * One of the norms.
   *
   * @param gain of the call, or null for the norm's own
   * @param bias of the call, or null for the norm's own
   */
  private record Half(Norm norm, @Nullable Rows gain, @Nullable Rows bias) {
    private Call call(
        Rows x,
        @Nullable Rows residual,
        @Nullable RowMemory output,
        @Nullable Saved saved,
        Arrays arrays) {
      double[] mean = saved == null ? null : saved.mean();
      double[] rstd = saved == null ? null : saved.rstd();
      return norm.forwardCall(
          x, residual, null, gain, bias, output, mean, rstd, arrays.gains, arrays.biases);
    }
  }

  /** Arrays that gain and bias of a call are copied to; null where the norm's own are used. */
  private record Arrays(@Nullable Staging gains, @Nullable Staging biases)
      implements AutoCloseable {
    private static Arrays of(Half half) {
      return new Arrays(
          half.gain == null ? null : Staging.take(), half.bias == null ? null : Staging.take());
    }

    @Override
    public void close() {
      if (gains != null) {
        gains.giveBack();
      }
      if (biases != null) {
        biases.giveBack();
      }
    }
  }

  /** Gains and biases are those of the call, or null for the norms' own. */
  static NormPair of(
      Norm first,
      @Nullable Rows gain,
      @Nullable Rows bias,
      Norm next,
      @Nullable Rows gainOfNext,
      @Nullable Rows biasOfNext) {
    requireFit(first, next);
    return new NormPair(new Half(first, gain, bias), new Half(next, gainOfNext, biasOfNext));
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

  /** A call that keeps nothing. */
  void apply(Rows x, Rows residual, Rows y) {
    NormArguments.requireNonNull(residual, "residual");
    next.norm.check(x, residual, next.gain, next.bias, y, null, null);
    run(x, residual, y, null, null);
  }

  /** A call that keeps what the backward passes of both norms need. */
  void apply(Rows x, Rows residual, Rows y, Saved saved, Saved savedOfNext) {
    if (NormArguments.requireNonNull(saved, "saved") == savedOfNext) {
      throw new IllegalArgumentException(
          "saved and savedOfNext are one object: each needs its own");
    }
    requireKept(saved.keep());
    NormArguments.requireNonNull(residual, "residual");
    first.norm.requireTraining(x, null, residual, first.gain, first.bias, y, saved, "saved");
    NormArguments.requireApart(residual, first.gain, first.bias);
    next.norm.requireTraining(
        x, residual, null, next.gain, next.bias, y, savedOfNext, "savedOfNext");
    saved.begin(first.norm, first.norm.groups, first.norm.spec().isCentred());
    savedOfNext.begin(next.norm, next.norm.groups, next.norm.spec().isCentred());
    run(x, residual, y, saved, savedOfNext);
    saved.end(x, null, first.gain, first.bias);
    savedOfNext.end(savedOfNext.keep() == Keep.OUTPUT ? y : residual, null, next.gain, next.bias);
  }

  /** Refuses to keep the output of the first norm. */
  static void requireKept(Keep keep) {
    if (keep == Keep.OUTPUT) {
      throw new IllegalArgumentException(
          "saved keeps the output, which is not stored: it must keep the input or nothing");
    }
  }

  /** Relies on the checks. */
  private void run(
      Rows x, Rows residual, Rows y, @Nullable Saved saved, @Nullable Saved savedOfNext) {
    if (x.rows() == 0) {
      return;
    }
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(
            CallMemory.isOfAnyThread(x, residual, y, first.gain, first.bias, next.gain, next.bias),
            () -> run(x, residual, y, saved, savedOfNext))) {
      return;
    }
    Norm one = first.norm;
    Norm other = next.norm;
    RowMemory output = other.backEndParts().memory.of(y, other.groups);
    try (Arrays arrays = Arrays.of(first);
        Arrays arraysOfNext = Arrays.of(next);
        Call call = first.call(x, null, null, saved, arrays);
        Call nextCall = next.call(x, residual, output, savedOfNext, arraysOfNext)) {
      boolean shared = CallMemory.isShared(call.rows()) && CallMemory.isShared(nextCall.rows());
      SandwichRunner.run(
          new SandwichRunner.Part(call, one.backEndParts().plans, one.groups),
          new SandwichRunner.Part(nextCall, other.backEndParts().plans, other.groups),
          x.rows(),
          shared ? Math.min(one.threads, other.threads) : 1);
    } finally {
      Reference.reachabilityFence(x);
      Reference.reachabilityFence(residual);
      Reference.reachabilityFence(y);
    }
  }
}
