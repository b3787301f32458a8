package io.github.rmsnorm4j.internal.device;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import org.jspecify.annotations.Nullable;

/**
 * The checks of the rows of a norm's calls, for back ends in other modules. Rows may stand for
 * memory of a device: only their shapes, types, addresses and scopes are looked at.
 */
public interface RowChecks {
  /** The rows of a call. */
  interface RowsOfCall {
    /** The rows of a tensor; null if the call has none. */
    @Nullable Rows of(Tensor tensor);
  }

  /** Checks the shapes of gain and bias of calls, as far as they do not depend on x. */
  void parameters(CallParameters parameters);

  /**
   * Checks a forward call. Whether a gain of the call has zeros is not looked at, even if the
   * output is kept.
   *
   * @param keep what is kept for a backward pass; null if nothing is
   */
  void forward(RowsOfCall rows, CallParameters parameters, @Nullable Keep keep);

  /**
   * Checks a forward call of two norms around the addition to a residual, as {@link #forward} does.
   *
   * @param next the checks of the norm of the sum
   * @param keep what is kept of this norm; null if nothing is
   * @param keepOfNext what is kept of the next norm; null if nothing is
   */
  void forwardPair(
      RowsOfCall rows,
      CallParameters parameters,
      RowChecks next,
      CallParameters parametersOfNext,
      @Nullable Keep keep,
      @Nullable Keep keepOfNext);

  /**
   * Checks a forward call whose output becomes codes.
   *
   * @param q where codes and scales go
   * @return the codes and scales
   */
  CodeMemory quantized(RowsOfCall rows, CallParameters parameters, QuantizedRows q);

  /**
   * Checks a backward call; the forward call has checked what was kept.
   *
   * @param parameters those of the forward call
   */
  void backward(RowsOfCall rows, CallParameters parameters);

  /**
   * Checks how many elements the gradients of gain and bias have; -1 for one that is not wanted.
   *
   * @param parameters those of the forward call
   * @param gain those of dgain
   * @param bias those of dbias
   */
  void gradients(CallParameters parameters, int gain, int bias);

  /** Whether any row of x shares a byte with any row of y. */
  boolean overlap(Rows x, Rows y);
}
