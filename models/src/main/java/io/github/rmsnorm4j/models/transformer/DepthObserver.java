package io.github.rmsnorm4j.models.transformer;

import java.lang.foreign.MemorySegment;

/**
 * Sees the residual stream between blocks: depth 0 is what the first block is given, depth i what
 * the i-th block gave. Float32, a row of the model's width per token; to be read during the call.
 */
public interface DepthObserver {
  /**
   * Called in the forward pass, from depth 0 on.
   *
   * @param depth 0 to the number of blocks
   * @param activations the stream
   */
  void forward(int depth, MemorySegment activations);

  /**
   * Called in the backward pass, down to depth 0; does nothing unless it is overridden.
   *
   * @param depth the number of blocks to 0
   * @param gradients the gradient of the loss by the stream at this depth
   */
  default void backward(int depth, MemorySegment gradients) {}
}
