package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import java.util.List;

/**
 * A learned tensor.
 *
 * @param name as Hugging Face's models have it
 * @param shape one axis for gains and biases, two for matrices: outputs, inputs
 * @param offset index of its first element in a model's memory
 * @param role what it does
 */
public record Parameter(String name, List<Integer> shape, long offset, Role role) {
  /** What a tensor does, which decides how it begins and whether it decays. */
  public enum Role {
    /** A projection or an embedding: begins random, decays. */
    MATRIX,
    /** A norm's gain: begins at 1, does not decay. */
    GAIN,
    /** A norm's bias: begins at 0, does not decay. */
    BIAS
  }

  /** {@return how many numbers it holds: the product of the shape} */
  public long elements() {
    return (long) rows() * columns();
  }

  /** As float32 in a file. */
  Tensor stored(String prefix) {
    return new Tensor(prefix + name, Dtype.F32, shape.stream().map(Integer::longValue).toList());
  }

  int rows() {
    return shape.size() == 1 ? 1 : shape.getFirst();
  }

  int columns() {
    return shape.getLast();
  }
}
