package io.github.rmsnorm4j.internal.device;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import org.jspecify.annotations.Nullable;

/**
 * The checks of the rows of a norm's calls, for back ends in other modules. Rows may stand for
 * memory of a device: only their shapes, types, addresses and scopes are looked at.
 */
public interface RowChecks {
  /** Checks the shapes of gain and bias of calls, as far as they do not depend on x. */
  void parameters(CallParameters parameters);

  /**
   * Checks a forward call. Whether a gain of the call has zeros is not looked at, even if the
   * output is kept.
   *
   * @param residual null without one
   * @param z the rows of a gate; null in a call without
   * @param keep what is kept for a backward pass; null if nothing is
   */
  void forward(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows z,
      CallParameters parameters,
      Rows y,
      @Nullable Keep keep);

  /**
   * Checks a forward call of two norms around the addition to a residual, as {@link #forward} does.
   *
   * @param next the checks of the norm of the sum
   * @param keep what is kept of this norm; null if nothing is
   * @param keepOfNext what is kept of the next norm; null if nothing is
   */
  void forwardPair(
      Rows x,
      CallParameters parameters,
      Rows residual,
      RowChecks next,
      CallParameters parametersOfNext,
      Rows y,
      @Nullable Keep keep,
      @Nullable Keep keepOfNext);

  /**
   * Checks a forward call whose output becomes codes.
   *
   * @param residual null without one
   * @param z the rows of a gate; null in a call without
   * @param y null where the output is not stored
   * @param q where codes and scales go
   * @return the codes and scales
   */
  CodeMemory quantized(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows z,
      CallParameters parameters,
      @Nullable Rows y,
      QuantizedRows q);

  /**
   * Checks a backward call; the forward call has checked what was kept.
   *
   * @param kept the input, or the output if that was kept
   * @param z the rows of a gate; null without one
   * @param dresidual null without one
   * @param parameters those of the forward call
   * @param dz the gradient of z; null in a call without a gate
   */
  void backward(
      Rows dy,
      Rows kept,
      @Nullable Rows z,
      @Nullable Rows dresidual,
      CallParameters parameters,
      Rows dx,
      @Nullable Rows dz);

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
