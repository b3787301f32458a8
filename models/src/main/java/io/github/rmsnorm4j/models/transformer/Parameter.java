package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import java.util.List;

/**
 * A learned tensor.
 *
 * @param name as Hugging Face's models have it
 * @param stored the name in files of its family, behind what all names of a file begin with;
 *     several parameters may be stored as one
 * @param shape one axis for gains and biases, two for matrices: outputs, inputs
 * @param offset index of its first element in a model's memory
 */
public record Parameter(String name, String stored, List<Integer> shape, long offset) {
  /** {@return whether it is a projection or an embedding, which begins random and decays} */
  public boolean isMatrix() {
    return shape.size() > 1;
  }

  /** {@return whether it is a norm's gain, which begins at 1; what is neither, a bias, at 0} */
  public boolean isGain() {
    return !isMatrix() && name.endsWith(".weight");
  }

  /** {@return how many numbers it holds: the product of the shape} */
  public long elements() {
    return (long) rows() * columns();
  }

  /** As float32 in a file, under its own name. */
  Tensor tensor(String prefix) {
    return new Tensor(prefix + name, Dtype.F32, shape.stream().map(Integer::longValue).toList());
  }

  int rows() {
    return isMatrix() ? shape.getFirst() : 1;
  }

  int columns() {
    return shape.getLast();
  }
}
