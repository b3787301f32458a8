package io.github.rmsnorm4j.models.transformer;

/**
 * Changes the numbers of a stored model while they are loaded, for example to see what the rounding
 * of weights does to the logits.
 *
 * <p>A large tensor comes in several pieces, and some pieces may come more than once. So that every
 * pass computes with the same weights, the change of an element may depend on its tensor, its index
 * and its value alone.
 */
@FunctionalInterface
public interface MatrixChange {
  /** Changes nothing. */
  MatrixChange NONE = (tensor, first, values) -> {};

  /**
   * Changes a piece of a tensor, in place, before it is used.
   *
   * @param tensor its name in the file
   * @param first index of the first of these elements in the tensor, in the order of the file
   * @param values the elements, as float32
   */
  void change(String tensor, long first, float[] values);
}
