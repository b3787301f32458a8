package io.github.rmsnorm4j.internal.device;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;

/**
 * The checks of the rows of a norm's calls, for back ends in other modules. Rows may stand for
 * memory of a device: only their shapes, types, addresses and scopes are looked at.
 */
public interface RowChecks {
  /**
   * Checks a forward call.
   *
   * @param residual null without one
   * @param z the rows of a gate; null in a call without
   * @param keep what is kept for a backward pass; null if nothing is
   */
  void forward(Rows x, Rows residual, Rows z, Rows y, Keep keep);

  /**
   * Checks a forward call whose output becomes codes.
   *
   * @param residual null without one
   * @param z the rows of a gate; null in a call without
   * @param y null where the output is not stored
   * @param q where codes and scales go
   * @return the codes and scales
   */
  CodeMemory quantized(Rows x, Rows residual, Rows z, Rows y, QuantizedRows q);

  /**
   * Checks a backward call; the forward call has checked what was kept.
   *
   * @param kept the input, or the output if that was kept
   * @param z the rows of a gate; null without one
   * @param dresidual null without one
   * @param dz the gradient of z; null in a call without a gate
   */
  void backward(Rows dy, Rows kept, Rows z, Rows dresidual, Rows dx, Rows dz);

  /**
   * Checks how many elements the gradients of gain and bias have; -1 for one that is not wanted.
   *
   * @param gain those of dgain
   * @param bias those of dbias
   */
  void gradients(int gain, int bias);

  /** Whether any row of x shares a byte with any row of y. */
  boolean overlap(Rows x, Rows y);
}
